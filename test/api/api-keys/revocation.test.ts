// @slow: it starts, stops and breaks processes of the platform.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';
import { startProcess, startWeb } from '../../support/processes/processes.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { hmac, keysOf } from './keys.ts';

useDatabase();

type Web = Awaited<ReturnType<typeof startWeb>>;

let own: Awaited<ReturnType<typeof workspace>>;
let there: ReturnType<typeof keysOf>;
let redis: TcpProxy;
let web: Web;
let here: Client;

// The cache time of the web process (`here`) is longer than a test, so it forgets a key only when it is told to.
const remembers = { KEY_CACHE_SECONDS: '3600', LOG_LEVEL: 'debug' };

beforeAll(async () => {
  own = await workspace();
  redis = await startTcpProxy(config.REDIS_URL, 6379);
  // The test process is the other process (`there`), which changes the keys.
  const [other, mine] = await Promise.all([startApi(), startWeb({ ...remembers, REDIS_URL: redis.url })]);
  there = keysOf(other, own.key);
  web = mine;
  here = clientOf(mine.url);
});
beforeEach(async () => {
  await redis.pass();
  await hears();
});

const ask = (key: string) => here.request('GET', '/v2/email', { key });
const statusOf = async (key: string) => (await ask(key)).status;

/** Returns a key that the web process remembers. */
async function rememberedKey(settings: object = {}) {
  const { body } = await there.create(settings);
  expect(await statusOf(body.key)).toBe(200);
  return body as { id: string; key: string };
}

/** Waits until the web process hears of changes by other processes. */
async function hears(): Promise<void> {
  await waitFor('changes are heard', async () => {
    const { id, key } = await rememberedKey();
    await there.remove(id);
    return waitFor('this one too', async () => (await statusOf(key)) === 401, { timeoutMs: 3_000 });
  });
}

/** Waits until the web process refuses the key. Its cache lasts an hour, so it was told. Benches measure how soon. */
async function becomesRefused(key: string): Promise<string> {
  const { body } = await waitFor('the key is refused', async () => {
    const answer = await ask(key);
    return answer.status === 401 && answer;
  });
  return body.type;
}

// Shows A8
test('a key that is deleted at one process is refused by another within a second', async () => {
  const { id, key } = await rememberedKey();
  expect((await there.remove(id)).status).toBe(204);
  await becomesRefused(key);
});

// Shows A8
test('a key that is rotated without overlap is refused by another process within a second', async () => {
  const { id, key } = await rememberedKey();
  const { body } = await there.rotate(id, { overlapHours: 0 });
  await becomesRefused(key);
  expect(await statusOf(body.key)).toBe(200);
});

test('a changed key works as changed at another process within a second', async () => {
  const { id, key } = await rememberedKey();
  await there.change(id, { signing: hmac, strictMode: true });
  expect(await becomesRefused(key)).toMatch(/\/signature_required$/);
});

test('a key and a token that the operator revokes are refused by a running process within a second', async () => {
  const { id, key } = await rememberedKey();
  const token = await apiKeys.issue(own.workspaceId, { kind: 'app' });
  expect(await statusOf(token.key)).toBe(200);
  const args = ['key', 'delete', own.workspaceId, id];
  expect((await startProcess('scripts/setup/admin/admin.ts', args).exited).code).toBe(0);
  await becomesRefused(key);
  expect((await admin('app', 'delete', own.workspaceId, token.record.id)).code).toBe(0);
  await becomesRefused(token.key);
});

test('a process that could not hear for a while forgets all it remembered when it can again', async () => {
  const { id, key } = await rememberedKey();
  redis.refuse();
  await there.remove(id);
  expect(await statusOf(key)).toBe(200);
  await redis.pass();
  await becomesRefused(key);
});

// Shows F18
test('a line that has died without a word is given up, and another made', async () => {
  const { id, key } = await rememberedKey();
  redis.freeze();
  await there.remove(id);
  await waitFor('the silence is noticed', () => web.output().includes('Socket timeout'));
  expect(await statusOf(key)).toBe(200);
  await redis.pass();
  await becomesRefused(key);
});

// Shows A8
test('while Redis is away a deleted key is refused at once where it was deleted, elsewhere after the cache time', async () => {
  const line = await startTcpProxy(config.REDIS_URL, 6379);
  const deaf = await startWeb({ KEY_CACHE_SECONDS: '1', REDIS_URL: line.url });
  line.refuse();
  const client = clientOf(deaf.url);
  const away = keysOf(client, own.key);
  const refusesAway = async (key: string) =>
    (await client.request('GET', '/v2/email', { key })).status === 401;

  const { body: first } = await away.create();
  expect(await refusesAway(first.key)).toBe(false);
  expect((await away.remove(first.id)).status).toBe(204);
  expect(await refusesAway(first.key)).toBe(true);

  const { body: second } = await away.create();
  expect(await refusesAway(second.key)).toBe(false);
  expect((await there.remove(second.id)).status).toBe(204);
  await waitFor('the key is refused', () => refusesAway(second.key));

  // None of this keeps the process from stopping cleanly.
  expect(await deaf.stop()).toEqual({ code: 0, signal: null });
});

test('neither keys nor signing secrets are in the log', async () => {
  const { body } = await keysOf(here, own.key).create({ signing: hmac });
  const { body: rotated } = await keysOf(here, own.key).rotate(body.id);
  const { body: renewed } = await keysOf(here, own.key).rotateSecret(rotated.id);
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${'Zm9v'.repeat(16)}\n-----END PRIVATE KEY-----`;
  const refused = await keysOf(here, own.key).change(body.id, {
    signing: { algorithm: 'ecdsa_p256_sha256', publicKey: privateKey },
  });
  expect(refused.status).toBe(400);
  await waitFor('the last line', () => web.output().includes(refused.headers['request-id']!));
  for (const secret of [body.key, body.signingSecret, rotated.key, renewed.signingSecret, 'Zm9vZm9v'])
    expect(web.output()).not.toContain(secret);
});
