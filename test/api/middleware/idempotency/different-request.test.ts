import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { insertApiKey } from '../../../../shared/db/api-keys/api-keys.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import { newId } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { ask, codeOf, essence, type Question } from './ask.ts';
import { startEffectsApi } from './effects-api.ts';

useDatabase();

let api: Client;
let effectsApi: Awaited<ReturnType<typeof startEffectsApi>>;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  effectsApi = await startEffectsApi();
  own = await workspace();
});

const text = '{"name":"a","note":"b"}';
const base = { path: '/v2/effects', body: text } satisfies Partial<Question>;
const others: Record<string, Partial<Question>> = {
  'a body that differs by one byte': { body: '{"name":"a","note":"c"}' },
  'a body with a space more': { body: '{"name":"a", "note":"b"}' },
  'a body with a line break at its end': { body: `${text}\n` },
  'a body with its members in another order': { body: '{"note":"b","name":"a"}' },
  'a body that spells a letter otherwise': { body: '{"name":"\\u0061","note":"b"}' },
  'no body': { body: undefined },
  'a query': { path: '/v2/effects?a=1' },
  'an empty query': { path: '/v2/effects?' },
  'another path': { path: '/v2/effects/a' },
  'another method': { path: '/v2/effects/a', method: 'PATCH' },
};

test.each(Object.keys(others))('%s makes it another request, which is refused with 409', async (name) => {
  const question = { key: own.key, idempotencyKey: name.replaceAll(' ', '-'), ...base };
  const first = await ask(effectsApi.url, question);
  expect(first.status).toBe(201);
  const made = await effectsApi.effects('a');
  const other = await ask(effectsApi.url, { ...question, ...others[name] });
  expect([other.status, codeOf(other)]).toEqual([409, 'idempotency_key_reused']);
  expect(other.headers).not.toHaveProperty('retry-after');
  expect(other.isReplayed).toBe(false);
  expect(await effectsApi.effects('a')).toBe(made);
  expect(essence(await ask(effectsApi.url, question))).toEqual(essence(first));
});

test('another method on the same path and body is another request', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'methods',
    path: '/v2/effects/methods',
    body: '{}',
    method: 'PATCH',
  };
  expect((await ask(effectsApi.url, question)).status).toBe(200);
  expect(codeOf(await ask(effectsApi.url, { ...question, method: 'POST' }))).toBe('idempotency_key_reused');
});

test('bytes cannot move from the target to the body unnoticed', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'moved',
    path: '/v2/effects/moved?',
    body: '{"note":"b"}',
  };
  const [start, rest] = [question.body.slice(0, 1), question.body.slice(1)];
  expect((await ask(effectsApi.url, { ...question, method: 'PATCH' })).status).toBe(200);
  const moved = { ...question, method: 'PATCH', path: question.path + start, body: rest };
  expect(codeOf(await ask(effectsApi.url, moved))).toBe('idempotency_key_reused');
});

test('headers other than the key do not make it another request', async () => {
  const question = { key: own.key, idempotencyKey: 'headers', ...base };
  const first = await ask(effectsApi.url, { ...question, headers: { 'request-id': 'one' } });
  const again = await ask(effectsApi.url, {
    ...question,
    headers: { 'request-id': 'two', 'content-type': 'application/json; charset=utf-8', 'x-other': '1' },
  });
  expect(essence(again)).toEqual(essence(first));
  expect(again.headers['request-id']).toBe('two');
});

// Shows A50
test('keys that differ in case, by quotes or by their end are different keys', async () => {
  const keys = ['Key', 'key', 'KEY', '"key"', 'key.', 'key"', "'key'", 'k', 'key%20', 'key+'];
  const ids = new Set<string>();
  for (const idempotencyKey of keys) {
    const reply = await ask(effectsApi.url, { key: own.key, idempotencyKey, ...base });
    expect([reply.status, reply.isReplayed]).toEqual([201, false]);
    ids.add(reply.text);
  }
  expect(ids.size).toBe(keys.length);
});

// Shows A4
test('another workspace may use the same key', async () => {
  const stranger = await workspace();
  const question = { key: own.key, idempotencyKey: 'shared', body: newEmail(own) };
  const first = await ask(api.url, question);
  const other = await ask(api.url, { ...question, key: stranger.key, body: newEmail(stranger) });
  expect([other.status, other.isReplayed]).toEqual([201, false]);
  expect(other.json().id).not.toBe(first.json().id);
});

// Shows A4
test('another API key or app of the workspace gets nothing of the first one’s answers', async () => {
  const question = { key: own.key, idempotencyKey: 'siblings', ...base };
  const first = await ask(effectsApi.url, question);
  for (const kind of ['api_key', 'app'] as const) {
    const { key } = await apiKeys.issue(own.workspaceId, { kind });
    const reply = await ask(effectsApi.url, { ...question, key });
    expect([reply.status, reply.isReplayed]).toEqual([201, false]);
    expect(reply.text).not.toBe(first.text);
  }
});

test('a key that was rotated goes on where the old one was', async () => {
  const old = await apiKeys.issue(own.workspaceId);
  const question = { key: old.key, idempotencyKey: 'rotated', ...base };
  const first = await ask(effectsApi.url, question);
  const key = apiKeys.newKey('api_key');
  const record = { ...old.record, id: newId('key', now()) };
  await insertApiKey(own.workspaceId, record, apiKeys.hashKey(key));
  const replay = await ask(effectsApi.url, { ...question, key });
  expect([essence(replay), replay.isReplayed]).toEqual([essence(first), true]);
  const other = await ask(effectsApi.url, { ...question, key, body: '{"name":"b"}' });
  expect(codeOf(other)).toBe('idempotency_key_reused');
});

// Shows A4
test('a key that was revoked or has expired gets no replay', async () => {
  const expiresAt = new Date(now().getTime() + 3_600_000);
  const expiring = await apiKeys.issue(own.workspaceId, { expiresAt });
  const revoked = await apiKeys.issue(own.workspaceId);
  const questions = [expiring, revoked].map(({ key }) => ({ key, idempotencyKey: 'revoked', ...base }));
  for (const question of questions) {
    expect((await ask(effectsApi.url, question)).status).toBe(201);
    expect((await ask(effectsApi.url, question)).isReplayed).toBe(true);
  }
  await advanceClock(3_600_000);
  await apiKeys.revoke(own.workspaceId, 'api_key', revoked.record.id);
  for (const question of questions)
    await waitFor('the key is refused', async () => {
      const reply = await ask(effectsApi.url, question);
      return reply.status === 401 && codeOf(reply) === 'unauthenticated';
    });
});

test('a key that lacks the scope by now gets no replay', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId);
  const question = { idempotencyKey: 'scope', ...base };
  expect((await ask(effectsApi.url, { ...question, key })).status).toBe(201);
  const weaker = apiKeys.newKey('api_key');
  const rest = { ...record, id: newId('key', now()), scopes: ['contacts.read'] };
  await insertApiKey(own.workspaceId, rest, apiKeys.hashKey(weaker));
  const reply = await ask(effectsApi.url, { ...question, key: weaker });
  expect([reply.status, codeOf(reply)]).toEqual([403, 'forbidden']);
});
