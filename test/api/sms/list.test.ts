import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let ids: Record<string, string>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
  await senders.addApproved(own.workspaceId, '07407000009');
  const send = async (changes: object) => (await sendSms(api, own, changes as never)).id as string;
  ids = {
    plain: await send({}),
    other: await send({ recipient: '+447700900124', clientReference: 'r-1', clientTag: 'Sale' }),
    mobile: await send({ sender: '07407 000009' }),
  };
  const text = await api.request('POST', '/v2/simulator/phones/07700900124/messages', {
    key: own.key,
    body: { content: 'Hi', to: 'Acme' },
  });
  ids['inbound'] = text.body.id;
});

async function list(query: string, key = own.key): Promise<string[]> {
  const { status, body } = await api.request('GET', `/v2/sms?${query}`, { key });
  if (status !== 200) return [`${status}`];
  const names = Object.keys(ids);
  return body.data.map(({ id }: { id: string }) => names.find((name) => ids[name] === id));
}

test.each([
  ['', ['inbound', 'mobile', 'other', 'plain']],
  ['direction=inbound', ['inbound']],
  ['status=queued', ['mobile', 'other', 'plain']],
  ['status=received', ['inbound']],
  ['recipient=07700900124', ['other']],
  ['recipient=%2B447700900123', ['mobile', 'plain']],
  ['recipient=Acme', ['inbound']],
  ['sender=Acme', ['other', 'plain']],
  ['sender=07407000009', ['mobile']],
  ['sender=ACME', ['other', 'plain']],
  ['recipient=acme', ['inbound']],
  ['sender=Acm', []],
  ['sender=Acmé', []],
  ['sender=%2B447700900124', ['inbound']],
  ['clientReference=r-1', ['other']],
  ['clientTag=SALE', ['other']],
  ['since=2020-01-01T00:00:00Z&until=2021-01-01T00:00:00Z', []],
  ['since=2020-01-01T00:00:00Z', ['inbound', 'mobile', 'other', 'plain']],
])('?%s finds what it names', async (query, expected) => expect(await list(query)).toEqual(expected));

test('a name that texts spell in several ways is one, over pages', async () => {
  const there = await textingWorkspace();
  const made: string[] = [];
  // Texts of other names lie between the spellings.
  for (const name of ['ZOO', 'Bar', 'Zoo', 'aBar', 'zoo']) {
    const { id } = await senders.addApproved(there.workspaceId, name);
    const sent = await sendSms(api, there, { sender: name, scheduledAt: null });
    if (name.toLowerCase() === 'zoo') made.unshift(sent.id);
    await query("UPDATE sms_messages SET status = 'sent' WHERE id = ?", [idToBytes(sent.id)]);
    expect((await api.request('DELETE', `/v2/senders/${id}`, { key: there.key })).status).toBe(204);
  }
  const page = async (more: string) =>
    (await api.request('GET', `/v2/sms?sender=zOO&limit=2${more}`, { key: there.key })).body;
  const first = await page('');
  const second = await page(`&cursor=${first.nextCursor}`);
  expect([...first.data, ...second.data].map(({ id }: any) => id)).toEqual(made);
  expect(second.nextCursor).toBeNull();
});

test('pages follow on each other without a gap', async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { body } = await api.request('GET', `/v2/sms?limit=1${query}`, { key: own.key });
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  } while (cursor);
  expect(seen).toEqual(Object.values(ids).toReversed());
});

test('who may not see recipients sees no number of a person, and cannot ask for one', async () => {
  const { key } = await apiKeys.issue(own.workspaceId, {
    scopes: scopes.filter((scope) => scope !== 'recipients.read'),
  });
  expect(await list('recipient=07700900124', key)).toEqual(['403']);
  expect(await list('sender=07700900124', key)).toEqual(['403']);
  expect(await list('sender=Acme', key)).toEqual(['other', 'plain']);
  const { body } = await api.request('GET', '/v2/sms', { key });
  expect(JSON.stringify(body)).not.toContain('+447700900');
  const { body: outbound } = await api.request('GET', `/v2/sms/${ids['plain']}`, { key });
  expect(outbound).toMatchObject({ sender: 'Acme', recipient: null, content: 'Hello' });
});
