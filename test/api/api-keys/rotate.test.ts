import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { open } from '../../../shared/common/secrets.ts';
import { findApiKey } from '../../../shared/db/api-keys/api-keys.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import * as keyUsage from '../../../shared/domain/api-keys/usage.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';
import { ecdsa, hmac, keysOf } from './keys.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let keys: ReturnType<typeof keysOf>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  keys = keysOf(api, own.key);
});

const hourMs = 3_600_000;
const statusOf = async (key: string) => (await api.request('GET', '/v2/email', { key })).status;
const lineageOf = async (key: string) => (await authenticate(key))?.lineageId;
const untilMs = ({ createdAt }: { createdAt: string }, { expiresAt }: { expiresAt: string }) =>
  new Date(expiresAt).getTime() - new Date(createdAt).getTime();

test('a rotation is a new key with the settings of the old one, at an address of its own', async () => {
  const settings = {
    name: 'Shop',
    scopes: ['api_keys.read', 'email.read'],
    limits: { dailyParts: 10, monthlyParts: 20 },
    strictMode: true,
    signing: ecdsa(),
    apiVersion: '2026-11-01',
  };
  const { body: old } = await keys.create(settings);
  const { status, headers, body } = await keys.rotate(old.id);
  expect(status).toBe(201);
  expect(headers['location']).toBe(`${api.url}/v2/api-keys/${body.id}`);
  expect(body.key).toMatch(/^msg_[0-9A-Za-z]{40}$/);
  expect(body).toStrictEqual({
    ...old,
    id: expect.stringMatching(/^key_/),
    key: body.key,
    keyPrefix: body.key.slice(0, 6),
    keyLast4: body.key.slice(-4),
    createdAt: body.createdAt,
    activeFrom: body.createdAt,
    expiresAt: null,
  });
  expect([body.id, body.key]).not.toEqual([old.id, old.key]);
  expect((await keys.read(body.id)).body).toStrictEqual({ ...body, key: null });
  const { body: left } = await keys.read(old.id);
  expect(left).toStrictEqual({ ...old, key: null, expiresAt: left.expiresAt });
  expect(untilMs(body, left)).toBe(24 * hourMs);
});

test.each([0, 1, 168, null])('overlapHours %j is how long the old key goes on; null is 24', async (hours) => {
  const { body: old } = await keys.create();
  const { body } = await keys.rotate(old.id, { overlapHours: hours });
  expect(untilMs(body, (await keys.read(old.id)).body)).toBe((hours ?? 24) * hourMs);
  expect(await statusOf(old.key)).toBe(hours === 0 ? 401 : 200);
  expect(await statusOf(body.key)).toBe(200);
});

test.each([-1, 169, 1.5, '24', true])('overlapHours %j is refused', async (overlapHours) => {
  const { status, body } = await keys.rotate(own.keyId, { overlapHours });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['overlapHours']);
  expect((await keys.read(own.keyId)).body.expiresAt).toBeNull();
});

test('both keys work during the overlap, as one lineage with one count; after it only the new one', async () => {
  // A new month counts from 0, so the hour of the overlap must not cross the end of one.
  await advanceClockTo(new Date(new Date(now().getTime() + 24 * hourMs).setUTCHours(12)));
  const { body: old } = await keys.create({ limits: { dailyParts: 100 } });
  const { body } = await keys.rotate(old.id, { overlapHours: 1 });
  expect(await lineageOf(body.key)).toBe(old.id);
  expect(await lineageOf(old.key)).toBe(old.id);
  await keyUsage.reserve((await authenticate(old.key))!, 30, now());
  await keyUsage.reserve((await authenticate(body.key))!, 5, now());
  for (const { id } of [old, body])
    expect((await keys.read(id)).body.limits).toMatchObject({ usedToday: 35, usedThisMonth: 35 });
  const third = await keys.rotate(body.id);
  expect(third.body.limits).toMatchObject({ usedToday: 35, usedThisMonth: 35 });

  await advanceClock(hourMs - 10_000);
  expect([await statusOf(old.key), await statusOf(body.key)]).toEqual([200, 200]);
  await advanceClockTo(new Date((await keys.read(old.id)).body.expiresAt));
  expect([await statusOf(old.key), await statusOf(body.key)]).toEqual([401, 200]);
  await keys.remove(old.id);
  expect((await keys.read(body.id)).body.limits).toMatchObject({ usedThisMonth: 35 });
});

test('a key can rotate itself, and ends when the overlap does', async () => {
  const { body: old } = await keys.create();
  const { status, body } = await keysOf(api, old.key).rotate(old.id, { overlapHours: 0 });
  expect(status).toBe(201);
  expect(await statusOf(old.key)).toBe(401);
  expect((await keysOf(api, body.key).remove(old.id)).status).toBe(204);
});

test('a key that was to expire keeps its time, and its rotation has the same', async () => {
  const expiresAt = new Date(now().getTime() + 2 * hourMs).toISOString();
  const { body: old } = await keys.create({ expiresAt });
  const { body } = await keys.rotate(old.id, { overlapHours: 24 });
  expect(body.expiresAt).toBe(expiresAt);
  expect((await keys.read(old.id)).body.expiresAt).toBe(expiresAt);
});

test('once its rotation is gone a key can be rotated again, and passes on its own expiry and not the overlap', async () => {
  const expiresAt = new Date(now().getTime() + 90 * 24 * hourMs).toISOString();
  for (const settings of [{}, { expiresAt }]) {
    const { body: old } = await keys.create(settings);
    const { body: first } = await keys.rotate(old.id, { overlapHours: 2 });
    await keys.remove(first.id);
    // A key in its overlap cannot prolong its own remaining life.
    expect((await keysOf(api, old.key).rotate(old.id)).status).toBe(403);
    const { status, body: second } = await keys.rotate(old.id, { overlapHours: 24 });
    expect([status, second.expiresAt]).toEqual([201, old.expiresAt]);
    expect(untilMs(first, (await keys.read(old.id)).body)).toBe(2 * hourMs);
    await keys.remove(second.id);
    expect((await keys.rotate(old.id)).body.expiresAt).toBe(old.expiresAt);
  }
});

test('the rotation of a key that is not active yet is not active before it', async () => {
  const activeFrom = new Date(now().getTime() + 2 * hourMs).toISOString();
  const { body: old } = await keys.create({ activeFrom });
  const { body } = await keys.rotate(old.id);
  expect(body.activeFrom).toBe(activeFrom);
  expect(await statusOf(body.key)).toBe(401);
});

test('a key is rotated once, also when it is asked for twice at once; then its rotation can be', async () => {
  const { body: old } = await keys.create();
  const answers = await Promise.all([keys.rotate(old.id), keys.rotate(old.id)]);
  const [made, refused] = answers.toSorted((one, other) => one.status - other.status);
  expect([made!.status, refused!.status]).toEqual([201, 409]);
  expect(refused!.body.type).toBe(`${api.url}/problems/not_rotatable`);
  expect(refused!.body.detail).toContain(made!.body.id);
  expect((await keys.rotate(made!.body.id)).status).toBe(201);
  expect((await keys.rotate(old.id)).status).toBe(409);
});

test('an expired key cannot be rotated', async () => {
  const { record } = await apiKeys.issue(own.workspaceId, { expiresAt: now() });
  const { status, body } = await keys.rotate(record.id);
  expect(status).toBe(409);
  expect(body.type).toBe(`${api.url}/problems/not_rotatable`);
});

/** Returns the secrets that may sign requests with this key now, and until when each is valid. */
async function secretsOf(id: string) {
  const record = (await findApiKey(own.workspaceId, 'api_key', id))!;
  return [
    [record.signingSecret && open(id, record.signingSecret), null],
    [
      record.previousSigningSecret && open(id, record.previousSigningSecret),
      record.previousSigningSecretUntil,
    ],
  ].filter(([secret]) => secret !== null);
}

test('the signing secret goes over to the rotation, which answers with it, and so does the one before it', async () => {
  const { body: old } = await keys.create({ signing: hmac });
  const { body: renewed } = await keys.rotateSecret(old.id);
  const { body } = await keys.rotate(old.id);
  expect(body.signingSecret).toBe(renewed.signingSecret);
  expect(await secretsOf(body.id)).toEqual(await secretsOf(old.id));
  expect(await secretsOf(body.id)).toEqual([
    [renewed.signingSecret, null],
    [old.signingSecret, expect.any(Date)],
  ]);
  expect((await authenticate(body.key))!.signing!.keys).toHaveLength(2);
  await advanceClock(25 * hourMs);
  const { body: later } = await keys.rotate(body.id);
  expect(await secretsOf(later.id)).toEqual([[renewed.signingSecret, null]]);
});

test('a new signing secret is shown once; the one before it is good for 24 hours', async () => {
  const { body: made } = await keys.create({ signing: hmac, strictMode: true });
  const startedAt = now().getTime();
  const { status, headers, body } = await keys.rotateSecret(made.id);
  expect(status).toBe(200);
  expect(headers['location']).toBeUndefined();
  expect(body.signingSecret).toMatch(/^sig_[A-Za-z0-9_-]{43}$/);
  expect(body).toStrictEqual({ ...made, key: null, signingSecret: body.signingSecret });
  expect((await keys.read(made.id)).body.signingSecret).toBeNull();
  const [current, previous] = await secretsOf(made.id);
  expect(current).toEqual([body.signingSecret, null]);
  expect(previous![0]).toBe(made.signingSecret);
  const until = (previous![1] as Date).getTime() - 24 * hourMs;
  expect(until).toBeGreaterThanOrEqual(startedAt - 1_000);
  expect(until).toBeLessThan(now().getTime() + 1_000);
  const { signing } = (await authenticate(made.key))!;
  expect(signing!.keys.map((signer) => signer.until)).toEqual([null, previous![1]]);
});

test('a key without a signing secret has none to rotate', async () => {
  for (const settings of [{}, { signing: ecdsa() }]) {
    const { body: made } = await keys.create(settings);
    const { status, body } = await keys.rotateSecret(made.id);
    expect([status, body.type]).toEqual([409, `${api.url}/problems/not_rotatable`]);
    expect(body.detail).toBe('The key does not sign with hmac_sha256, so it has no signing secret.');
  }
});

test('a key that was rotated goes 30 days after it has expired; the first and the newest of its lineage stay, expired or not', async () => {
  const mine = keysOf(api, (await workspace()).key);
  const { body: first } = await mine.create();
  const { body: second } = await mine.rotate(first.id, { overlapHours: 1 });
  const { body: third } = await mine.rotate(second.id, { overlapHours: 1 });
  const expiresAt = new Date(now().getTime() + 3 * hourMs).toISOString();
  const { body: ended } = await mine.create({ expiresAt });
  const { body: lost } = await mine.create();
  // The key that took its place is gone, so it is the newest again.
  await mine.remove((await mine.rotate(lost.id)).body.id);
  const statuses = () =>
    Promise.all([first, second, third, ended, lost].map(async ({ id }) => (await mine.read(id)).status));
  await advanceClock(30 * 24 * hourMs);
  await purge();
  expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
  await advanceClock(30 * hourMs);
  await purge();
  // Reports name the lineage by its first key.
  expect(await statuses()).toEqual([200, 404, 200, 200, 200]);
  expect(await statusOf(third.key)).toBe(200);
  expect(await lineageOf(third.key)).toBe(first.id);
});

test('a workspace at its cap can rotate again once a rotated key has been expired for 30 days', async () => {
  const { workspaceId, key } = await workspace();
  const mine = keysOf(api, key);
  for (let count = 4; count < 500; count += 1) await apiKeys.issue(workspaceId);
  let { body: newest } = await mine.create();
  const rotate = async () => {
    const { status, body } = await mine.rotate(newest.id);
    if (status === 201) newest = body;
    return status;
  };
  expect([await rotate(), await rotate(), await rotate()]).toEqual([201, 201, 409]);
  await advanceClock(32 * 24 * hourMs);
  await purge();
  expect([await rotate(), await rotate()]).toEqual([201, 409]);
});
