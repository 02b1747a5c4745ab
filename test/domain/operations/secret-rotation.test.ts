import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { seal, sealingKeyId } from '../../../shared/common/secrets.ts';
import { query } from '../../../shared/db/client.ts';
import { listSealedOtherwise } from '../../../shared/db/server/sealed-secrets.system.ts';
import { countLeft } from '../../../shared/domain/operations/secret-rotation.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

const place = { table: 'idempotency_records', column: 'answer' };

test('each statement reads few rows of a large table, and all values that another key has sealed are found', async () => {
  const own = await workspace();
  const [workspaceId, lineageId] = [idToBytes(own.workspaceId), idToBytes(newId('key', now()))];
  const answer = seal('owner', 'answer');
  const rows = Array.from({ length: 10_000 }, (_, index) => [
    workspaceId,
    lineageId,
    `key ${String(index).padStart(5, '0')}`,
    Buffer.alloc(32),
    // The last and two of the first are of another key.
    [3, 4, 9_999].includes(index) ? Buffer.from('gone:something') : answer,
    now(),
  ]);
  await query(
    'INSERT INTO idempotency_records (workspace_id, lineage_id, idempotency_key, fingerprint, answer, expires_at) VALUES ?',
    [rows],
  );

  const late = [workspaceId, lineageId, Buffer.from('key 09000')];
  for (const after of [null, late]) {
    const read = await rowsRead(() => listSealedOtherwise(place, sealingKeyId(), after, 500));
    expect(read).toBeLessThan(1000);
  }
  const progress = await countLeft();
  expect(progress.find((one) => one.place === 'idempotency_records.answer')).toMatchObject({
    left: 3,
    keys: ['gone'],
  });
});
