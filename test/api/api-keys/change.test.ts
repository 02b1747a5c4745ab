import { beforeAll, expect, test } from 'vitest';
import { query, transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { withoutWaiting } from '../../support/database/lock-wait.ts';
import { ecdsa, hmac, keysOf, newPublicKey, notForClients } from './keys.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let keys: ReturnType<typeof keysOf>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  keys = keysOf(api, own.key);
});

const publicKey = newPublicKey();
const otherPublicKey = newPublicKey();
/** A key with every setting that can be changed. */
const full = {
  name: 'Shop',
  limits: { dailyParts: 10, monthlyParts: 20 },
  strictMode: true,
  apiVersion: '2026-11-01',
  signing: ecdsa(publicKey),
};

test.each<[change: object, effect: object]>([
  [{}, {}],
  [{ name: 'Till' }, { name: 'Till' }],
  [{ name: '' }, { name: null }],
  [{ name: null }, {}],
  [{ limits: { dailyParts: 7 } }, { limits: { dailyParts: 7, monthlyParts: 20 } }],
  [{ limits: { monthlyParts: 700 } }, { limits: { dailyParts: 10, monthlyParts: 700 } }],
  [{ limits: { dailyParts: null } }, { limits: { dailyParts: null, monthlyParts: 20 } }],
  [{ limits: { dailyParts: 0, monthlyParts: 0 } }, { limits: { dailyParts: null, monthlyParts: null } }],
  [{ limits: {} }, {}],
  [{ limits: null }, {}],
  [{ strictMode: false }, { strictMode: false }],
  [{ strictMode: true }, {}],
  [{ strictMode: null }, {}],
  [{ apiVersion: '2026-11-01' }, {}],
  [{ apiVersion: null }, { apiVersion: null }],
  [{ signing: ecdsa(otherPublicKey) }, { signing: ecdsa(otherPublicKey) }],
  [
    { signing: null, strictMode: false },
    { signing: undefined, strictMode: false },
  ],
  [
    { name: 'a', limits: { dailyParts: 1 }, apiVersion: null },
    { name: 'a', limits: { dailyParts: 1, monthlyParts: 20 }, apiVersion: null },
  ],
])('of a key with all settings, %j changes only what it names', async (change, effect) => {
  const { body: made } = await keys.create(full);
  const { status, body } = await keys.change(made.id, change);
  expect(status).toBe(200);
  const { limits, ...rest } = effect as { limits?: object };
  const { signing, ...expected } = {
    ...made,
    key: null,
    ...rest,
    limits: { ...made.limits, ...limits },
  };
  expect(body).toStrictEqual(signing ? { ...expected, signing } : expected);
  expect((await keys.read(made.id)).body).toStrictEqual(body);
});

test.each<[change: object, effect: object]>([
  [{ limits: { dailyParts: 7 } }, { limits: { dailyParts: 7, monthlyParts: null } }],
  [{ apiVersion: '2026-11-01' }, { apiVersion: '2026-11-01' }],
  [
    { signing: ecdsa(publicKey), strictMode: true },
    { signing: ecdsa(publicKey), strictMode: true },
  ],
  [{ signing: null }, {}],
  [{ strictMode: false }, {}],
])('of a key without any, %j sets only what it names', async (change, effect) => {
  const { body: made } = await keys.create();
  const { body } = await keys.change(made.id, change);
  const { limits, ...rest } = effect as { limits?: object };
  expect(body).toStrictEqual({ ...made, key: null, ...rest, limits: { ...made.limits, ...limits } });
});

const secretsOf = async (id: string) => {
  const [row] = await query('SELECT * FROM api_keys WHERE id = ?', [idToBytes(id)]);
  return [row!['signing_secret'], row!['previous_signing_secret'], row!['previous_signing_secret_until']];
};

test('a switch to hmac_sha256 issues a secret, this once; naming it again keeps it', async () => {
  const { body: made } = await keys.create({ signing: ecdsa() });
  const { body: switched } = await keys.change(made.id, { signing: hmac });
  expect(switched.signingSecret).toMatch(/^sig_[A-Za-z0-9_-]{43}$/);
  expect(switched.signing).toStrictEqual({ algorithm: 'hmac_sha256', publicKey: null });
  const stored = await secretsOf(made.id);
  for (const signing of [hmac, { ...hmac, publicKey: null }]) {
    const { body } = await keys.change(made.id, { signing, strictMode: true });
    expect(body).toMatchObject({ signing: switched.signing, signingSecret: null, strictMode: true });
  }
  expect(await secretsOf(made.id)).toEqual(stored);
  expect((await keys.read(made.id)).body.signingSecret).toBeNull();
});

test('with a public key, or without signing, no secret is left', async () => {
  for (const signing of [ecdsa(), null]) {
    const { body: made } = await keys.create({ signing: hmac });
    await keys.rotateSecret(made.id);
    const { body } = await keys.change(made.id, { signing });
    expect(body.signingSecret).toBeNull();
    expect(await secretsOf(made.id)).toEqual([null, null, null]);
    const { body: again } = await keys.change(made.id, { signing: hmac });
    expect(again.signingSecret).not.toBe(made.signingSecret);
  }
});

test('a public key is returned in one form, however it was written', async () => {
  const { body: made } = await keys.create();
  const written = `\n${publicKey.replaceAll('\n', '\r\n')}\n`;
  const { body } = await keys.change(made.id, { signing: ecdsa(written) });
  expect(body.signing.publicKey).toBe(publicKey);
});

test.each<[field: string, change: object]>([
  ['name', { name: 7 }],
  ['name', { name: 'x'.repeat(65) }],
  ['limits', { limits: [] }],
  ['limits.dailyParts', { limits: { dailyParts: 100_000_001 } }],
  ['limits.monthlyParts', { limits: { monthlyParts: -1 } }],
  ['strictMode', { strictMode: 1 }],
  ['apiVersion', { apiVersion: '' }],
  ['apiVersion', { apiVersion: '2026-11-02' }],
  ['signing', { signing: [] }],
  ['signing', { signing: null }],
  ['signing.algorithm', { signing: { publicKey } }],
  ['signing.algorithm', { signing: { algorithm: null } }],
  ['signing.publicKey', { signing: { algorithm: 'ecdsa_p256_sha256' } }],
  ['signing.publicKey', { signing: ecdsa('-----BEGIN EC PRIVATE KEY-----') }],
  ['signing.publicKey', { signing: { ...hmac, publicKey } }],
  ['strictMode', { signing: null, strictMode: true }],
])('%s is refused under its name, and nothing is changed (%#)', async (field, change) => {
  const { body: made } = await keys.create(full);
  const { status, body } = await keys.change(made.id, { name: 'changed', ...change });
  expect(status).toBe(400);
  expect(body.type).toBe(`${api.url}/problems/validation_failed`);
  expect(Object.keys(body.errors)).toEqual([field]);
  expect((await keys.read(made.id)).body).toStrictEqual({ ...made, key: null });
});

test('strictMode needs signing', async () => {
  const { body: made } = await keys.create();
  const { status, body } = await keys.change(made.id, { strictMode: true });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['strictMode']);
});

test('what only answers hold cannot be changed, nor what belongs to a new key', async () => {
  const { body: made } = await keys.create({ limits: { dailyParts: 5 } });
  const { status, body } = await keys.change(made.id, {
    ...notForClients,
    scopes: ['events.read'],
    activeFrom: '2030-01-01T00:00:00Z',
    expiresAt: '2030-01-01T00:00:00Z',
    limits: { usedToday: 7, usedThisMonth: 8 },
  });
  expect(status).toBe(200);
  expect(body).toStrictEqual({ ...made, key: null });
  expect(await authenticate(made.key)).toMatchObject({ workspaceId: own.workspaceId, kind: 'api_key' });
});

test('a change takes effect at once', async () => {
  const { body: made } = await keys.create();
  expect(await authenticate(made.key)).toMatchObject({ apiVersion: null, strictMode: false, signing: null });
  await keys.change(made.id, { apiVersion: '2026-11-01', signing: hmac, strictMode: true });
  expect(await authenticate(made.key)).toMatchObject({
    apiVersion: '2026-11-01',
    strictMode: true,
    signing: { algorithm: 'hmac_sha256' },
  });
});

/** A key that may change itself, and its rotation. */
async function ownKeys(settings: object) {
  const { body: first } = await keys.create(settings);
  const { body: second } = await keys.rotate(first.id);
  return { first, second, asFirst: keysOf(api, first.key) };
}

test.each<[what: string, change: object]>([
  ['raise', { dailyParts: 11 }],
  ['raise', { monthlyParts: 21 }],
  ['lift', { dailyParts: null }],
  ['lift', { monthlyParts: 0 }],
  ['raise one and lower the other', { dailyParts: 1, monthlyParts: 21 }],
])('a key cannot %s its own limits, nor those of its rotation: %j', async (_what, change) => {
  const { first, second, asFirst } = await ownKeys({ limits: full.limits });
  for (const { id } of [first, second]) {
    const { status, body } = await asFirst.change(id, { limits: change });
    expect(status).toBe(403);
    expect(body.type).toBe(`${api.url}/problems/forbidden`);
    expect((await keys.read(id)).body.limits).toMatchObject(full.limits);
  }
  expect((await keys.change(first.id, { limits: change })).status).toBe(200);
});

test('a key can lower its own limits, keep them, and set one where there is none', async () => {
  const { body: made } = await keys.create({ limits: { dailyParts: 10 } });
  const own = keysOf(api, made.key);
  for (const limits of [{ dailyParts: 10 }, { dailyParts: 9 }, { monthlyParts: 50 }, { monthlyParts: 50 }])
    expect((await own.change(made.id, { limits, name: 'x' })).body.limits).toMatchObject(limits);
  expect((await own.change(made.id, { limits: { dailyParts: 10 } })).status).toBe(403);
});

test('a key that may do more than the caller cannot be changed, rotated or given a new secret by it', async () => {
  const held = ['api_keys.write', 'email.send'] as const;
  const narrow = keysOf(api, (await apiKeys.issue(own.workspaceId, { scopes: held })).key);
  const { body: equal } = await keys.create({ scopes: held, signing: hmac });
  const { body: wider } = await keys.create({ scopes: [...held, 'content.read'], signing: hmac });
  const attempts = (id: string) => [
    narrow.change(id, { name: 'taken' }),
    narrow.rotateSecret(id),
    narrow.rotate(id),
  ];
  for (const { status } of await Promise.all(attempts(equal.id))) expect(status).toBeLessThan(300);
  for (const { status, body } of await Promise.all(attempts(wider.id))) {
    expect(status).toBe(403);
    expect(body.type).toBe(`${api.url}/problems/forbidden`);
    expect(body.detail).toContain('content.read');
  }
  expect((await keys.read(wider.id)).body).toStrictEqual({ ...wider, key: null, signingSecret: null });
});

test('changes at the same time all count', async () => {
  for (let round = 1; round <= 5; round += 1) {
    const { body: made } = await keys.create();
    const answers = await Promise.all([
      keys.change(made.id, { name: 'Till' }),
      keys.change(made.id, { limits: { dailyParts: 5 } }),
      keys.change(made.id, { limits: { monthlyParts: 50 } }),
      keys.change(made.id, { signing: ecdsa(publicKey) }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await keys.read(made.id);
    expect(body).toMatchObject({ name: 'Till', signing: ecdsa(publicKey) });
    expect(body.limits).toMatchObject({ dailyParts: 5, monthlyParts: 50 });
  }
});

test('while one key is being changed, the others of the workspace can be changed, rotated and revoked', async () => {
  const mine = await workspace();
  const theirs = keysOf(api, mine.key);
  const made = await Promise.all(Array.from({ length: 4 }, () => theirs.create()));
  const [held, ...rest] = made.map(({ body }) => body.id as string);
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const caller = (await authenticate(mine.key))!;
  const open = transaction(async () => {
    await apiKeys.change(caller, held!, { name: 'held' });
    hold();
    await over;
  });
  await isHeld;
  try {
    const answers = await withoutWaiting(() =>
      Promise.all([
        theirs.change(rest[0]!, { name: 'x' }),
        theirs.rotate(rest[1]!),
        theirs.remove(rest[2]!),
        theirs.list(),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 204, 200]);
  } finally {
    end();
    await open;
  }
});
