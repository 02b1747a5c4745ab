import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';
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

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const statusOf = async (key: string) => (await api.request('GET', '/v2/email', { key })).status;

test('a key is answered with 201, its whole record, its address and its text, and works at once', async () => {
  const { status, headers, body } = await keys.create({ name: 'Shop' });
  expect(status).toBe(201);
  expect(headers['location']).toBe(`${api.url}/v2/api-keys/${body.id}`);
  expect(body).toStrictEqual({
    id: expect.stringMatching(/^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    name: 'Shop',
    keyPrefix: body.key.slice(0, 6),
    keyLast4: body.key.slice(-4),
    scopes,
    limits: { dailyParts: null, monthlyParts: null, usedToday: 0, usedThisMonth: 0 },
    strictMode: false,
    apiVersion: null,
    createdAt: timestamp,
    activeFrom: body.createdAt,
    expiresAt: null,
    lastUsedAt: null,
    key: expect.stringMatching(/^msg_[0-9A-Za-z]{40}$/),
    signingSecret: null,
  });
  expect(await statusOf(body.key)).toBe(200);
});

test('every setting that is given is kept', async () => {
  const publicKey = newPublicKey();
  const [activeFrom, expiresAt] = [3_600_000, 7_200_000].map((ms) => new Date(now().getTime() + ms));
  const given = {
    name: 'Für 🙂',
    scopes: ['email.send', 'events.read'],
    limits: { dailyParts: 100_000_000, monthlyParts: 1 },
    strictMode: true,
    signing: ecdsa(publicKey),
    apiVersion: '2026-11-01',
    activeFrom: activeFrom!.toISOString(),
    expiresAt: expiresAt!.toISOString().replace('Z', '+00:00'),
  };
  const { status, body } = await keys.create(given);
  expect(status).toBe(201);
  const kept = {
    ...given,
    limits: { ...given.limits, usedToday: 0, usedThisMonth: 0 },
    expiresAt: expiresAt!.toISOString(),
    signingSecret: null,
  };
  expect(body).toMatchObject(kept);
  expect((await keys.read(body.id)).body).toStrictEqual({ ...body, key: null });
});

test('a body without anything, no body, and null everywhere all mean the defaults', async () => {
  const nothing = Object.fromEntries(
    ['name', 'scopes', 'limits', 'strictMode', 'signing', 'apiVersion', 'activeFrom', 'expiresAt'].map(
      (field) => [field, null],
    ),
  );
  const defaults = { name: null, scopes, strictMode: false, apiVersion: null, expiresAt: null };
  for (const body of [{}, undefined, nothing, { name: '', limits: { dailyParts: 0, monthlyParts: null } }]) {
    const answer = await keys.call('POST', '', body);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject(defaults);
    expect(answer.body.limits).toMatchObject({ dailyParts: null, monthlyParts: null });
    expect(answer.body).not.toHaveProperty('signing');
  }
});

test('with hmac_sha256 the answer holds the signing secret, this once', async () => {
  const { body } = await keys.create({ signing: hmac, strictMode: true });
  expect(body.signing).toStrictEqual({ algorithm: 'hmac_sha256', publicKey: null });
  expect(body.signingSecret).toMatch(/^sig_[A-Za-z0-9_-]{43}$/);
  const hidden = { ...body, key: null, signingSecret: null };
  expect((await keys.read(body.id)).body).toStrictEqual(hidden);
  expect((await keys.list()).body.data).toContainEqual(hidden);
  expect((await keys.create({ signing: hmac })).body.signingSecret).not.toBe(body.signingSecret);
});

test('neither the key nor its signing secret is stored as it is', async () => {
  const { body } = await keys.create({ signing: hmac });
  const [row] = await query('SELECT * FROM api_keys WHERE id = ?', [idToBytes(body.id)]);
  for (const value of Object.values(row!)) {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
    for (const secret of [body.key, body.key.slice(6, -4), body.signingSecret, body.signingSecret.slice(4)])
      expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(Buffer.from(body.signingSecret.slice(4), 'base64url'))).toBe(false);
  }
});

// Shows A14
test('what only answers hold cannot be set', async () => {
  const { status, body } = await keys.create({
    ...notForClients,
    limits: { dailyParts: 5, usedToday: 7, usedThisMonth: 8 },
  });
  expect(status).toBe(201);
  expect(body.limits).toStrictEqual({ dailyParts: 5, monthlyParts: null, usedToday: 0, usedThisMonth: 0 });
  for (const [field, value] of Object.entries(notForClients)) expect(body[field]).not.toEqual(value);
  expect((await keys.read(body.id)).status).toBe(200);
});

const privateKey = `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END PRIVATE KEY-----`;
test.each<[field: string, body: object]>([
  ['name', { name: 7 }],
  ['name', { name: 'x'.repeat(65) }],
  ['name', { name: 'bell\u0007' }],
  ['scopes', { scopes: [] }],
  ['scopes', { scopes: 'email.send' }],
  ['scopes[1]', { scopes: ['email.send', 'email.*'] }],
  ['limits', { limits: 5 }],
  ['limits.dailyParts', { limits: { dailyParts: -1 } }],
  ['limits.dailyParts', { limits: { dailyParts: 100_000_001 } }],
  ['limits.monthlyParts', { limits: { monthlyParts: 1.5 } }],
  ['limits.monthlyParts', { limits: { monthlyParts: '5' } }],
  ['strictMode', { strictMode: 'true' }],
  ['strictMode', { strictMode: true }],
  ['signing', { signing: 'hmac_sha256' }],
  ['signing.algorithm', { signing: {} }],
  ['signing.algorithm', { signing: { algorithm: 'rsa' } }],
  ['signing.publicKey', { signing: { algorithm: 'ecdsa_p256_sha256' } }],
  ['signing.publicKey', { signing: { algorithm: 'ecdsa_p256_sha256', publicKey: null } }],
  ['signing.publicKey', { signing: { algorithm: 'ecdsa_p256_sha256', publicKey: 'x' } }],
  ['signing.publicKey', { signing: { algorithm: 'ecdsa_p256_sha256', publicKey: 7 } }],
  ['signing.publicKey', { signing: { algorithm: 'ecdsa_p256_sha256', publicKey: privateKey } }],
  ['signing.publicKey', { signing: { algorithm: 'hmac_sha256', publicKey: newPublicKey() } }],
  ['signing.publicKey', { signing: { algorithm: 'hmac_sha256', publicKey: 'x' } }],
  ['apiVersion', { apiVersion: '2020-01-01' }],
  ['apiVersion', { apiVersion: 7 }],
  ['activeFrom', { activeFrom: 'tomorrow' }],
  ['activeFrom', { activeFrom: '9999-12-31T23:59:59-01:00' }],
  ['expiresAt', { expiresAt: 1_800_000_000 }],
  ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
  ['expiresAt', { expiresAt: '9999-12-31T23:59:59-01:00' }],
  ['expiresAt', { activeFrom: '2090-01-01T00:00:00Z', expiresAt: '2090-01-01T00:00:00Z' }],
])('%s is refused under its name (%#)', async (field, body) => {
  const before = (await keys.list()).body.data.length;
  const answer = await keys.create(body);
  expect(answer.status).toBe(400);
  expect(answer.body.type).toBe(`${api.url}/problems/validation_failed`);
  expect(Object.keys(answer.body.errors)).toEqual([field]);
  expect((await keys.list()).body.data).toHaveLength(before);
});

test('everything that is wrong is said at once', async () => {
  const first = await keys.create({
    name: 7,
    scopes: ['x'],
    limits: { dailyParts: -1 },
    signing: ecdsa('x'),
  });
  expect(Object.keys(first.body.errors).toSorted()).toEqual([
    'limits.dailyParts',
    'name',
    'scopes[0]',
    'signing.publicKey',
  ]);
  const second = await keys.create({ strictMode: true, expiresAt: '2020-01-01T00:00:00Z' });
  expect(Object.keys(second.body.errors).toSorted()).toEqual(['expiresAt', 'strictMode']);
});

// Shows A11
test('a pasted private key is named as what it is, and does not come back', async () => {
  const { body } = await keys.create({ signing: ecdsa(privateKey) });
  expect(body.errors['signing.publicKey']).toEqual([expect.stringContaining('private key')]);
  expect(JSON.stringify(body)).not.toContain('AAAA');
});

test('a key grants only what its maker may do: beyond that 403, with the scopes that are lacking', async () => {
  const held = ['api_keys.write', 'api_keys.read', 'email.send'] as const;
  const narrow = keysOf(api, (await apiKeys.issue(own.workspaceId, { scopes: held })).key);
  const made = await narrow.create({ scopes: ['email.send', 'api_keys.write', 'email.send'] });
  expect(made.status).toBe(201);
  expect(made.body.scopes).toEqual(['email.send', 'api_keys.write']);
  const refused = await narrow.create({ scopes: ['email.send', 'email.read', 'content.read'] });
  expect(refused.status).toBe(403);
  expect(refused.body.type).toBe(`${api.url}/problems/forbidden`);
  expect(refused.body.detail).toMatch(/email\.read, content\.read/);
  expect(refused.body.detail).not.toContain('email.send');
  // A key without scopes may do everything, which the key that makes it may not.
  expect((await narrow.create()).status).toBe(403);
});

test('a key works from activeFrom until expiresAt', async () => {
  const activeFrom = new Date(now().getTime() + 3_600_000);
  const expiresAt = new Date(activeFrom.getTime() + 3_600_000);
  const { body } = await keys.create({ activeFrom, expiresAt });
  expect(body).toMatchObject({ activeFrom: activeFrom.toISOString(), expiresAt: expiresAt.toISOString() });
  expect(await statusOf(body.key)).toBe(401);
  await advanceClock(3_590_000);
  expect(await statusOf(body.key)).toBe(401);
  await advanceClockTo(activeFrom);
  expect(await statusOf(body.key)).toBe(200);
  await advanceClock(3_590_000);
  expect(await statusOf(body.key)).toBe(200);
  await advanceClockTo(expiresAt);
  expect(await statusOf(body.key)).toBe(401);
  expect((await keys.read(body.id)).status).toBe(200);
});

test('an activeFrom gone by counts as now', async () => {
  const { body } = await keys.create({ activeFrom: '0001-01-01T00:00:00Z' });
  expect(body.activeFrom).toBe(body.createdAt);
  expect(await statusOf(body.key)).toBe(200);
});

test('a workspace has at most 500 keys, also when ten are made at once; tokens of apps are not counted', async () => {
  const mine = await workspace();
  for (let count = 1; count < 495; count += 1) await apiKeys.issue(mine.workspaceId);
  await apiKeys.issue(mine.workspaceId, { kind: 'app' });
  const full = keysOf(api, mine.key);
  const answers = await Promise.all(Array.from({ length: 10 }, () => full.create()));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(5);
  for (const { status, body } of refused) {
    expect(status).toBe(409);
    expect(body.type).toBe(`${api.url}/problems/limit_exceeded`);
  }
  const { body } = await full.list();
  expect(body.data).toHaveLength(500);
  expect((await full.rotate(mine.keyId)).body.type).toBe(`${api.url}/problems/limit_exceeded`);
  expect((await full.remove(body.data[0].id)).status).toBe(204);
  expect((await full.create()).status).toBe(201);
  expect((await full.create()).status).toBe(409);
});
