import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { signRequest } from '../../support/api/sign-request.ts';
import type { Signer } from '../../support/api/signed-key.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { hmac, keysOf } from './keys.ts';

useDatabase();

let api: Client;
let keys: ReturnType<typeof keysOf>;
beforeAll(async () => {
  api = await startApi();
  keys = keysOf(api, (await workspace()).key);
});

/** A key in strict mode, and the signed requests that its holder can send. */
async function strictCaller() {
  const { body: own } = await keys.create({ signing: hmac, strictMode: true });
  const signer: Signer = { keyId: own.id, algorithm: 'hmac_sha256', secret: own.signingSecret };
  const call = (method: string, path: string, fields: object = {}) => {
    const url = `${api.url}/v2/api-keys${path}`;
    const body = JSON.stringify(fields);
    const headers = signRequest({ method, url, body, headers: { 'idempotency-key': randomUUID() } }, signer);
    return api.request(method, `/v2/api-keys${path}`, { key: own.key, body, headers });
  };
  return { own, call };
}

test('a key in strict mode makes, changes and rotates only keys in strict mode', async () => {
  const { own, call } = await strictCaller();
  const { body: free } = await keys.create({ signing: hmac });
  const { body: strict } = await keys.create({ signing: hmac, strictMode: true });
  const refused = [
    await call('POST', ''),
    await call('POST', '', { signing: hmac }),
    await call('PATCH', `/${strict.id}`, { strictMode: false }),
    await call('PATCH', `/${free.id}`, { name: 'mine' }),
    await call('POST', `/${free.id}/rotate`),
    await call('POST', `/${free.id}/rotate-signing-secret`),
    await call('PATCH', `/${own.id}`, { strictMode: false }),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  for (const { body } of refused) expect(body.detail).toMatch(/strict ?mode/i);
  const allowed = [
    await call('POST', '', { signing: hmac, strictMode: true }),
    await call('PATCH', `/${strict.id}`, { name: 'Till' }),
    await call('POST', `/${strict.id}/rotate`),
    await call('POST', `/${own.id}/rotate`),
  ];
  expect(allowed.map(({ status }) => status)).toEqual([201, 200, 201, 201]);
});

test.each([{ dailyParts: 5 }, { monthlyParts: 5 }])(
  'a key with limits gets no other key that may send SMS: %j',
  async (limits) => {
    const { body: made } = await keys.create({ limits });
    const limited = keysOf(api, made.key);
    const { body: free } = await keys.create();
    const { body: same } = await keys.create({ limits });
    const refused = [
      await limited.create(),
      await limited.create({ limits }),
      await limited.create({ scopes: ['sms.send'] }),
      await limited.change(free.id, { name: 'mine' }),
      await limited.change(same.id, { limits: { dailyParts: null, monthlyParts: null } }),
      await limited.rotate(free.id),
      await limited.rotate(same.id),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    for (const { body } of refused) expect(body.detail).toContain('limits');
    const { body: reader } = await limited.create({ scopes: ['sms.read', 'email.send'] });
    expect(reader.scopes).toEqual(['sms.read', 'email.send']);
    expect((await limited.change(reader.id, { name: 'Reader' })).status).toBe(200);
    // Its own rotation counts against the same limits.
    expect((await limited.rotate(made.id)).body.limits).toMatchObject(limits);
  },
);

test('a key deletes none that may do more than itself', async () => {
  const { own, call } = await strictCaller();
  const { body: free } = await keys.create();
  const { body: strict } = await keys.create({ signing: hmac, strictMode: true });
  const { body: deleter } = await keys.create({ scopes: ['api_keys.write'] });
  const { body: limited } = await keys.create({ limits: { dailyParts: 5 } });
  const refused = [
    await call('DELETE', `/${free.id}`),
    await keysOf(api, deleter.key).remove(free.id),
    await keysOf(api, deleter.key).remove(own.id),
    await keysOf(api, limited.key).remove(free.id),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  expect(refused[1]!.body.detail).toMatch(/lacks scopes .*email\.send/);
  expect((await api.request('GET', '/v2/email', { key: free.key })).status).toBe(200);

  const { body: reader } = await keys.create({ scopes: ['sms.read', 'api_keys.write'] });
  const { body: equal } = await keys.create({ scopes: ['api_keys.write'] });
  const allowed = [
    await call('DELETE', `/${strict.id}`),
    await keysOf(api, reader.key).remove(deleter.id),
    await keysOf(api, reader.key).remove(equal.id),
    await keys.remove(own.id),
  ];
  expect(allowed.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
});

test('a key takes away what it has replaced itself, whatever that may do more', async () => {
  const { body: old } = await keys.create({ signing: hmac });
  const { body: next } = await keys.rotate(old.id);
  await keys.change(next.id, { strictMode: true });
  const signer: Signer = { keyId: next.id, algorithm: 'hmac_sha256', secret: next.signingSecret };
  const path = `/v2/api-keys/${old.id}`;
  const headers = signRequest({ method: 'DELETE', url: `${api.url}${path}` }, signer);
  expect((await api.request('DELETE', path, { key: next.key, headers })).status).toBe(204);
});

const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(now().getTime() + hours * hourMs).toISOString();

test('a key gives no other a longer life than its own', async () => {
  const expiresAt = inHours(2);
  const { body: made } = await keys.create({ expiresAt });
  const short = keysOf(api, made.key);
  const refused = [
    await short.create(),
    await short.create({ expiresAt: null }),
    await short.create({ expiresAt: inHours(3) }),
    await short.create({ scopes: ['email.read'], expiresAt: new Date(Date.parse(expiresAt) + 1) }),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  for (const { body } of refused) expect(body.detail).toContain(expiresAt);
  for (const end of [expiresAt, inHours(1)])
    expect((await short.create({ expiresAt: end })).body.expiresAt).toBe(end);
  expect((await keys.create({ expiresAt: inHours(30_000) })).status).toBe(201);
});

test('nor by a rotation, of another or of the one that has replaced it', async () => {
  const { body: endless } = await keys.create();
  const { body: later } = await keys.create({ expiresAt: inHours(3) });
  const { body: made } = await keys.create({ expiresAt: inHours(2) });
  const short = keysOf(api, made.key);
  for (const { id } of [endless, later]) expect((await short.rotate(id)).status).toBe(403);
  // Otherwise a replaced key could live for ever, in the hands of anybody who has found it.
  const { body: next } = await keys.rotate(endless.id);
  expect((await keysOf(api, endless.key).rotate(next.id)).status).toBe(403);
  expect((await keysOf(api, next.key).rotate(next.id)).status).toBe(201);

  const { status, body: rotated } = await short.rotate(made.id);
  expect([status, rotated.expiresAt]).toEqual([201, made.expiresAt]);
});
