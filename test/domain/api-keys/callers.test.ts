import { beforeAll, expect, test } from 'vitest';
import { announce, listen } from '../../../shared/coordination/broadcast.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import { topic } from '../../../shared/domain/api-keys/record.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  // No remembered key expires during a test.
  changeSettings({ KEY_CACHE_SECONDS: 3_600 });
  own = await workspace();
});

/** Deletes the row without an announcement, so no process hears of it. */
const deleteRow = (keyId: string) => query('DELETE FROM api_keys WHERE id = ?', [idToBytes(keyId)]);

test('a key is remembered for KEY_CACHE_SECONDS', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId);
  expect(await authenticate(key)).not.toBeNull();
  await deleteRow(record.id);
  expect(await authenticate(key)).not.toBeNull();
  changeSettings({ KEY_CACHE_SECONDS: 0 });
  try {
    expect(await authenticate(key)).toBeNull();
  } finally {
    changeSettings({ KEY_CACHE_SECONDS: 3_600 });
  }
});

test('a change that is announced is seen at once, and others stay remembered', async () => {
  const [changed, other] = [await apiKeys.issue(own.workspaceId), await apiKeys.issue(own.workspaceId)];
  for (const { key } of [changed, other]) await authenticate(key);
  for (const { record } of [changed, other]) await deleteRow(record.id);
  announce(topic, changed.record.id);
  expect(await authenticate(changed.key)).toBeNull();
  expect(await authenticate(other.key)).not.toBeNull();
});

test('many first requests with one key are one look-up, and those after a change are another', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId);
  let lookUps = 0;
  const ask = () =>
    authenticate(key, async () => {
      lookUps += 1;
      return true;
    });
  const together = [ask(), ask(), ask()];
  announce(topic, record.id);
  together.push(ask(), ask());
  const callers = await Promise.all(together);
  expect(callers.map((caller) => caller?.keyId)).toEqual(Array(5).fill(record.id));
  expect(lookUps).toBe(2);
});

test('a look-up that began before a change does not bring back what was true before it', async () => {
  const { key, record } = await apiKeys.issue(own.workspaceId);
  const lookUp = authenticate(key);
  announce(topic, record.id);
  // The look-up read the row before its deletion: the result counts for its own request, and for no other.
  expect(await lookUp).not.toBeNull();
  await deleteRow(record.id);
  expect(await authenticate(key)).toBeNull();
});

test('a key is revoked when the transaction commits, not before, and not when it fails', async () => {
  for (const isKept of [false, true]) {
    const { key, record } = await apiKeys.issue(own.workspaceId);
    await authenticate(key);
    const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const open = transaction(async () => {
      await apiKeys.revoke(own.workspaceId, 'api_key', record.id);
      done();
      await over;
      if (isKept) throw new Error('rolled back');
    }).catch(() => undefined);
    await isDone;
    expect(await authenticate(key)).not.toBeNull();
    end();
    await open;
    expect((await authenticate(key)) !== null).toBe(isKept);
  }
});

test('a change, a rotation, a new secret and a deletion are announced, each for its key', async () => {
  const heard: string[] = [];
  listen(topic, { changed: (id) => heard.push(id), missed: () => undefined });
  const caller = (await authenticate(own.key))!;
  const made = await apiKeys.create(caller, { signing: { algorithm: 'hmac_sha256' } });
  expect(heard).toEqual([]);
  const expectHeard = async (work: () => Promise<unknown>) => {
    heard.length = 0;
    await work();
    expect(heard).toEqual([made.id]);
  };
  await expectHeard(() => apiKeys.change(caller, made.id, { name: 'x' }));
  await expectHeard(() => apiKeys.rotateSigningSecret(caller, made.id));
  await expectHeard(() => apiKeys.rotate(caller, made.id, {}));
  await expectHeard(() => apiKeys.remove(caller, made.id));
});
