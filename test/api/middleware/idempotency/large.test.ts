import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();
let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

test.each([60, 70, 500])(
  'an email of %d KB is accepted once under its key, by itself and several at a time',
  async (kilobytes) => {
    const idempotencyKey = randomUUID();
    const body = newEmail(own, { content: { text: 'x'.repeat(kilobytes * 1024) } });
    const post = () =>
      api.request('POST', '/v2/email', {
        key: own.key,
        headers: { 'idempotency-key': idempotencyKey },
        body,
      });
    const together = await Promise.all([post(), post(), post()]);
    expect(together.filter(({ status }) => status === 201)).not.toEqual([]);
    for (const { status } of together) expect([201, 409]).toContain(status);
    const again = await post();
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
    const id = together.find(({ status }) => status === 201)!.body.id;
    expect(again.body.id).toBe(id);
    const listed = await api.request('GET', '/v2/email', { key: own.key });
    expect(listed.body.data.filter((email: { id: string }) => email.id === id)).toHaveLength(1);
    expect(listed.body.data[0].id).toBe(id);
  },
);
