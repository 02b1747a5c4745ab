import { createClient, type Event } from 'messaging-service/client';
import { beforeAll, expect, test } from 'vitest';
import { startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let api: ReturnType<typeof createClient>;
beforeAll(async () => {
  own = await workspace();
  api = createClient({ baseUrl: (await startApi()).url, apiKey: own.key });
});

test('a listing is gone through page by page, and a record comes and goes', async () => {
  const made = [];
  for (const [index, firstName] of ['Ada', 'Grace', 'Radia'].entries())
    made.push(
      await api.post('/v2/contacts', { body: { number: `+44770090012${index}`, firstName, tags: ['vip'] } }),
    );
  const names = [];
  for await (const contact of api.list('/v2/contacts', { query: { tag: 'vip', limit: 1 } }))
    names.push(contact.firstName);
  expect(names).toEqual(['Radia', 'Grace', 'Ada']);
  const path = { id: made[0]!.id };
  expect(await api.patch('/v2/contacts/{id}', { path, body: { lastName: 'Lovelace' } })).toMatchObject({
    firstName: 'Ada',
    lastName: 'Lovelace',
  });
  expect(await api.delete('/v2/contacts/{id}', { path })).toBeUndefined();
  await expect(api.get('/v2/contacts/{id}', { path })).rejects.toMatchObject({
    status: 404,
    code: 'not_found',
  });
});

test('the feed is followed from page to page, and waits for what comes next', async () => {
  await runWorkers(['relay-events', 'sweep']);
  const suppress = (email: string) => api.post('/v2/suppressions', { body: { email } });
  await suppress('first@example.com');
  const seen: Event[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  for await (const { data, nextCursor } of api.follow(
    { types: ['suppression.*'], limit: 1 },
    { pollSeconds: 0.05, signal },
  )) {
    seen.push(...data);
    expect(nextCursor).toEqual(expect.any(String));
    if (seen.length === 1) await suppress('second@example.com');
    if (seen.length === 2) break;
  }
  expect(seen.map((event) => (event.type === 'suppression.created' ? event.data.email : null))).toEqual([
    'first@example.com',
    'second@example.com',
  ]);
});
