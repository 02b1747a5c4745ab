import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { insertApiKey } from '../../../shared/db/api-keys/api-keys.ts';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

test('a key is msg_ and 40 base62 characters, a token of a connected app begins with app_', () => {
  for (let count = 0; count < 200; count += 1) {
    expect(apiKeys.newKey('api_key')).toMatch(/^msg_[0-9A-Za-z]{40}$/);
    expect(apiKeys.newKey('app')).toMatch(/^app_[0-9A-Za-z]{40}$/);
  }
});

test('keys are random: none comes twice, and every character is as likely as another', () => {
  const keys = Array.from({ length: 2000 }, () => apiKeys.newKey('api_key').slice(4, 38));
  expect(new Set(keys).size).toBe(keys.length);
  const counts = Map.groupBy(keys.join(''), (character) => character);
  expect(counts.size).toBe(62);
  // 68,000 characters: about 1,097 of each. The bounds are seven standard deviations (33 each) away.
  for (const [character, found] of counts) {
    expect([character, found.length > 860]).toEqual([character, true]);
    expect([character, found.length < 1340]).toEqual([character, true]);
  }
});

// Shows A7
test('a mistyped key is told by its checksum', () => {
  const key = apiKeys.newKey('api_key');
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  expect(apiKeys.isWellFormed(key)).toBe(true);
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 43 }), fc.nat(61), (at, letter) => {
      fc.pre(key[at] !== alphabet[letter]);
      expect(apiKeys.isWellFormed(key.slice(0, at) + alphabet[letter] + key.slice(at + 1))).toBe(false);
    }),
  );
  for (const other of [
    '',
    'msg_',
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.replace('msg_', 'app_'),
  ])
    expect(apiKeys.isWellFormed(other)).toBe(false);
});

test('only the hash of a key is stored, with its first six and last four characters', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId, { name: 'Shop' });
  const [row] = await query('SELECT * FROM api_keys WHERE id = ?', [idToBytes(record.id)]);
  expect(row!['hash']).toEqual(createHash('sha256').update(key).digest());
  expect(record).toMatchObject({ keyPrefix: key.slice(0, 6), keyLast4: key.slice(-4), name: 'Shop' });
  const stored = Object.values(row!)
    .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
    .join(' ');
  expect(stored).not.toContain(key);
  expect(stored).not.toContain(key.slice(6, -4));
  expect(JSON.stringify(record)).not.toContain(key.slice(6, -4));
});

test('a key stands for its workspace, with the scopes that it was given; all by default', async () => {
  const all = await apiKeys.issue(own.workspaceId);
  expect(await authenticate(all.key)).toEqual({
    workspaceId: own.workspaceId,
    keyId: all.record.id,
    lineageId: all.record.id,
    kind: 'api_key',
    scopes: new Set(scopes),
    apiVersion: null,
    strictMode: false,
    signing: null,
  });
  const some = await apiKeys.issue(own.workspaceId, { kind: 'app', scopes: ['email.send', 'events.read'] });
  expect(await authenticate(some.key)).toMatchObject({
    kind: 'app',
    scopes: new Set(['email.send', 'events.read']),
  });
});

// Shows A7
test('a key that is unknown, mistyped or in other letters is nobody', async () => {
  const { key } = await apiKeys.issue(own.workspaceId);
  for (const token of [
    apiKeys.newKey('api_key'),
    key.toLowerCase(),
    key.toUpperCase(),
    `${key}x`,
    '',
    "' OR 1=1",
  ])
    expect(await authenticate(token)).toBeNull();
});

// Shows A8
test('a key works until it expires, also when it is remembered', async () => {
  const expiresAt = new Date(now().getTime() + 60_000);
  const { key } = await apiKeys.issue(own.workspaceId, { expiresAt });
  expect(await authenticate(key)).not.toBeNull();
  await advanceClock(61_000);
  expect(await authenticate(key)).toBeNull();
});

test('a key works only from the time that it is active from, also when it is remembered', async () => {
  const key = apiKeys.newKey('api_key');
  const { record } = await apiKeys.issue(own.workspaceId);
  const activeFrom = new Date(now().getTime() + 60_000);
  await insertApiKey(
    own.workspaceId,
    { ...record, id: newId('key', now()), activeFrom },
    apiKeys.hashKey(key),
  );
  expect(await authenticate(key)).toBeNull();
  await advanceClock(61_000);
  expect(await authenticate(key)).not.toBeNull();
});

test('the keys of a workspace are listed newest first, and revoked only there and as what they are', async () => {
  const [mine, other] = [await workspace(), await workspace()];
  const second = await apiKeys.issue(mine.workspaceId, { name: 'second' });
  const token = await apiKeys.issue(mine.workspaceId, { kind: 'app', name: 'third' });
  const listed = async (kind: 'api_key' | 'app') =>
    (await apiKeys.listIssued(mine.workspaceId, kind)).map(({ id }) => id);
  expect(await listed('api_key')).toEqual([second.record.id, mine.keyId]);
  expect(await listed('app')).toEqual([token.record.id]);
  expect(await apiKeys.revoke(other.workspaceId, 'api_key', second.record.id)).toBe(false);
  expect(await apiKeys.revoke(mine.workspaceId, 'app', second.record.id)).toBe(false);
  expect(await apiKeys.revoke(mine.workspaceId, 'api_key', token.record.id)).toBe(false);
  expect(await authenticate(second.key)).not.toBeNull();
  expect(await apiKeys.revoke(mine.workspaceId, 'api_key', second.record.id)).toBe(true);
  expect(await apiKeys.revoke(mine.workspaceId, 'api_key', second.record.id)).toBe(false);
  expect(await authenticate(second.key)).toBeNull();
  expect(await authenticate(token.key)).not.toBeNull();
  expect(await listed('api_key')).toEqual([mine.keyId]);
});

test('a connected app never has api_keys.write: it is not given it by default, and asking for it is refused', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId, { kind: 'app' });
  expect(record.scopes).toEqual(scopes.filter((scope) => scope !== 'api_keys.write'));
  expect((await authenticate(key))!.scopes.has('api_keys.write')).toBe(false);
  const before = await apiKeys.listIssued(own.workspaceId, 'app');
  await expect(
    apiKeys.issue(own.workspaceId, { kind: 'app', scopes: ['email.send', 'api_keys.write'] }),
  ).rejects.toThrow('api_keys.write');
  expect(await apiKeys.listIssued(own.workspaceId, 'app')).toEqual(before);
});
