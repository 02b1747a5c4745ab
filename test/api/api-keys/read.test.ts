import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { ecdsa, hmac, keysOf } from './keys.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let keys: ReturnType<typeof keysOf>;

beforeAll(async () => {
  api = await startApi();
});
beforeAll(async () => {
  own = await workspace();
  keys = keysOf(api, own.key);
});

const statusOf = async (key: string) => (await api.request('GET', '/v2/email', { key })).status;

test('keys are listed newest first, in one page', async () => {
  const mine = await workspace();
  const first = keysOf(api, mine.key);
  const made: string[] = [mine.keyId];
  for (let count = 0; count < 3; count += 1) made.unshift((await first.create()).body.id);
  const { status, body } = await first.call('GET', '');
  expect(status).toBe(200);
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(made);
  expect(body.nextCursor).toBeNull();
});

test('a record is the same alone, in the list, and in the answer that made it but for the secrets', async () => {
  for (const settings of [{}, { signing: hmac, strictMode: true }, { signing: ecdsa(), name: 'x' }]) {
    const { body: made } = await keys.create(settings);
    const { body: read } = await keys.read(made.id);
    expect(read).toStrictEqual({ ...made, key: null, signingSecret: null });
    const { body: listed } = await keys.list();
    expect(listed.data.find(({ id }: { id: string }) => id === made.id)).toStrictEqual(read);
  }
});

test('a revoked key is gone at once, and works no more', async () => {
  const { body } = await keys.create();
  expect(await statusOf(body.key)).toBe(200);
  expect(await keys.remove(body.id)).toMatchObject({ status: 204, body: '' });
  expect(await statusOf(body.key)).toBe(401);
  expect((await keys.read(body.id)).status).toBe(404);
  expect((await keys.remove(body.id)).status).toBe(404);
  expect(JSON.stringify((await keys.list()).body)).not.toContain(body.id);
  const [usage] = await query('SELECT 1 FROM key_usage WHERE lineage_id = ?', [idToBytes(body.id)]);
  expect(usage).toBeUndefined();
});

test('a key cannot delete itself', async () => {
  const { status, body } = await keys.remove(own.keyId);
  expect(status).toBe(409);
  expect(body.type).toBe(`${api.url}/problems/in_use`);
  expect(await statusOf(own.key)).toBe(200);
});

test('an expired key is still shown, can be changed and revoked', async () => {
  const expired = await apiKeys.issue(own.workspaceId, { expiresAt: new Date(0) });
  const { id } = expired.record;
  expect((await keys.read(id)).body.expiresAt).toBe('1970-01-01T00:00:00.000Z');
  expect((await keys.change(id, { name: 'old' })).body.name).toBe('old');
  expect((await keys.remove(id)).status).toBe(204);
});

test('tokens of connected apps are not among the keys, whatever is asked of them', async () => {
  const token = await apiKeys.issue(own.workspaceId, { kind: 'app' });
  const { id } = token.record;
  const answers = [
    await keys.read(id),
    await keys.change(id, { name: 'mine' }),
    await keys.rotate(id),
    await keys.rotateSecret(id),
    await keys.remove(id),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(404);
    expect(body.type).toBe(`${api.url}/problems/not_found`);
  }
  expect(JSON.stringify((await keys.list()).body)).not.toContain(id);
  expect(await statusOf(token.key)).toBe(200);
});

test('a connected app may read keys when its scopes say so, and never write them', async () => {
  const app = keysOf(api, (await apiKeys.issue(own.workspaceId, { kind: 'app' })).key);
  expect((await app.read(own.keyId)).status).toBe(200);
  for (const { status, body } of [
    await app.create({ scopes: ['events.read'] }),
    await app.remove(own.keyId),
  ]) {
    expect(status).toBe(403);
    expect(body.detail).toContain('api_keys.write');
  }
});

test('reading needs api_keys.read only, writing api_keys.write only', async () => {
  const { body } = await keys.create({ scopes: ['api_keys.read'] });
  const reader = keysOf(api, body.key);
  expect((await reader.read(own.keyId)).status).toBe(200);
  expect((await reader.change(body.id, { name: 'x' })).status).toBe(403);
  const writer = keysOf(api, (await keys.create({ scopes: ['api_keys.write'] })).body.key);
  expect((await writer.list()).status).toBe(403);
  expect((await writer.create({ scopes: ['api_keys.write'] })).status).toBe(201);
});
