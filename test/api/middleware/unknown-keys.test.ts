import { beforeAll, beforeEach, expect, test } from 'vitest';
import { announce } from '../../../shared/coordination/broadcast.ts';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { newKey } from '../../../shared/domain/api-keys/make-key.ts';
import { topic } from '../../../shared/domain/api-keys/record.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { lockTable } from '../../support/database/lock-table.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

/** One attempt comes back every 20 seconds, which is far longer than a test takes. */
const perMinute = 3;

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  changeSettings({
    RATE_LIMIT_WAIT_SECONDS: 30,
    AUTH_FAILURES_PER_MINUTE: perMinute,
    KEY_CACHE_SECONDS: 3_600,
  });
  own = await workspace();
  await waitFor('Redis is there', isRedisUp);
});
beforeEach(async () => {
  await forgetRedis();
  api = await startApi();
});

const statusOf = async (key: string) => (await api.request('GET', '/v2/webhooks', { key })).status;
const statusesOf = (keys: string[]) => Promise.all(keys.map(statusOf));
const madeUp = (count: number) => Array.from({ length: count }, () => newKey('api_key'));
const used = () => statusesOf(madeUp(perMinute + 1));

/** Runs the work while the table of keys is locked, so that every reader of a key waits. */
async function withKeysLocked<T>(work: () => Promise<T>): Promise<T> {
  const unlock = await lockTable('api_keys');
  try {
    return await work();
  } finally {
    await unlock();
  }
}

// Shows A13
test('past the limit an unknown key is refused without the database, however many come at once', async () => {
  expect(await statusOf(own.key)).toBe(200);
  expect((await used()).toSorted((one, other) => one - other)).toEqual([401, 401, 401, 429]);
  await withKeysLocked(async () => {
    expect(new Set(await statusesOf(madeUp(50)))).toEqual(new Set([429]));
    // This process also recognizes keys that it has seen, and text that cannot be a key, without the database.
    expect(await statusOf(own.key)).toBe(200);
    expect(await statusOf(`msg_${'x'.repeat(40)}`)).toBe(429);
  });
});

test('of many unknown keys at once no more are looked for than may fail', async () => {
  let answered = 0;
  const all = await withKeysLocked(async () => {
    const asked = madeUp(50).map((key) => statusOf(key).finally(() => (answered += 1)));
    await waitFor('all others are refused', () => answered === 50 - perMinute);
    return asked;
  });
  const statuses = await Promise.all(all);
  expect(statuses.filter((status) => status === 401)).toHaveLength(perMinute);
});

test('a key that this process has not seen works past the limit, where any process knows of it', async () => {
  expect((await used()).includes(429)).toBe(true);
  const issued = await apiKeys.issue(own.workspaceId);
  await waitFor('it is known', async () => (await statusOf(issued.key)) === 200);
  const { body: made } = await api.request('POST', '/v2/api-keys', { key: issued.key, body: {} });
  await waitFor('so is one that was made by request', async () => (await statusOf(made.key)) === 200);
  const rotated = await api.request('POST', `/v2/api-keys/${made.id}/rotate`, { key: issued.key });
  await waitFor('and its rotation', async () => (await statusOf(rotated.body.key)) === 200);

  const { key, record } = await apiKeys.issue(own.workspaceId);
  await query('DELETE FROM api_keys WHERE id = ?', [idToBytes(record.id)]);
  // The key is known, but its row is gone: the process looks it up and refuses it.
  expect(await statusOf(key)).toBe(429);
});

test('a process that knows no key yet takes many good ones at once, and they use up none of the failures', async () => {
  const keys = await Promise.all(Array.from({ length: 40 }, () => apiKeys.issue(own.workspaceId)));
  // This process made the keys, so it knows them. A new process does not know them, nor does Redis after a data loss.
  await forgetRedis();
  expect(new Set(await statusesOf(keys.map(({ key }) => key)))).toEqual(new Set([200]));
  for (const { key } of await Promise.all([1, 2, 3, 4].map(() => apiKeys.issue(own.workspaceId))))
    expect(await statusOf(key)).toBe(200);
  expect((await used()).toSorted((one, other) => one - other)).toEqual([401, 401, 401, 429]);
});

test('a key that was used once is known to all from then on', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId);
  await forgetRedis();
  expect(await statusOf(key)).toBe(200);
  expect((await used()).includes(429)).toBe(true);
  // Makes this process forget the key, like a process that has just started.
  announce(topic, record.id);
  expect(await statusOf(key)).toBe(200);
});
