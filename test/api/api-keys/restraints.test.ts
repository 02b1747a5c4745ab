import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database.ts';
import { workspace } from '../../support/factory.ts';
import { signRequest } from '../../support/sign-request.ts';
import type { Signer } from '../../support/signed-key.ts';
import { type Client, startApi } from '../../support/start-api.ts';
import { hmac, keysOf } from './keys.ts';

useDatabase();

let api: Client;
let keys: ReturnType<typeof keysOf>;
beforeAll(async () => {
  api = await startApi();
  keys = keysOf(api, (await workspace()).key);
});

/** What the holder of a key in strict mode can send. */
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

test('a leaked key goes, whoever sees it first: deleting needs no more than the scope', async () => {
  const { call } = await strictCaller();
  const { body: free } = await keys.create();
  expect((await call('DELETE', `/${free.id}`)).status).toBe(204);
});
