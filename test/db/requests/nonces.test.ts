import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { insertNonce } from '../../../shared/db/requests/nonces.system.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

// A batch that holds the nonce twice is rolled back; the transactions that waited for its row then meet in a deadlock.
test('of many who bring one nonce, alone and in batches, one is told that it is new, and all others that it is not', async () => {
  const keyId = newId('key', now());
  for (let round = 0; round < 200; round += 1) {
    const bring = () => insertNonce(keyId, nonce, new Date(now().getTime() + 60_000));
    const nonce = randomBytes(32);
    const answers: Promise<boolean>[] = [];
    for (const count of [2, 1, 1, 2]) {
      for (let index = 0; index < count; index += 1) answers.push(bring());
      await nextTurn();
    }
    const told = await Promise.all(answers);
    expect([told.length, told.filter(Boolean).length]).toEqual([6, 1]);
  }
});
