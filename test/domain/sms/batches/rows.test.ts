import { expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import { findSmsBatchForUpdate } from '../../../../shared/db/sms/batches/batches.ts';
import * as senders from '../../../../shared/domain/senders/senders.ts';
import { rowChecker } from '../../../../shared/domain/sms/batches/rows.ts';
import { openChunks } from '../../../../shared/domain/sms/batches/work/chunks.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { BatchMessage } from '../../../../shared/schemas/sms/batches.ts';
import { startApi } from '../../../support/api/start-api.ts';
import { messagesTo, newBatch } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { keptMemory } from '../../../support/processes/kept-memory.ts';

useDatabase();

test('any number of rows with senders and contents of their own neither fill the memory nor hide a sender', async () => {
  const own = await textingWorkspace();
  await senders.addApproved(own.workspaceId, 'Beta');
  const seen = { has: () => false, add: () => undefined };
  const { check } = rowChecker(own.workspaceId, {}, null, { at: now(), seen });
  const faultOf = async (row: Partial<BatchMessage>) => {
    const checked = await check(BatchMessage.parse({ recipient: '+447911000000', content: 'Hi', ...row }), 0);
    return 'fault' in checked ? checked.fault : null;
  };
  await faultOf({ sender: 'X' });
  const before = keptMemory().heapUsed;
  const told = new Set<string>();
  for (let row = 0; row < 15_000; row += 1) told.add(JSON.stringify(await faultOf({ sender: `X${row}` })));
  for (let row = 0; row < 8_000; row += 1)
    told.add(JSON.stringify(await faultOf({ content: `${row} ${'x'.repeat(600)}` })));
  expect([...told]).toEqual(['{"field":"sender","message":"is not a sender of this workspace"}', 'null']);
  const kept = keptMemory().heapUsed - before;
  // All contents together would take 6 megabytes, and all senders 4.
  expect(kept).toBeLessThan(3_000_000);
  expect(await faultOf({ sender: 'bEta' })).toBeNull();
  expect(await faultOf({ content: 'x'.repeat(5_000) })).toMatchObject({ field: 'content' });
});

test('a chunk that is made ahead leaves out rows that were added since it was begun', async () => {
  const own = await textingWorkspace();
  const { id } = await newBatch(await startApi(), own, { messages: messagesTo(4) });
  await query('UPDATE sms_batches SET started_at = created_at WHERE id = ?', [idToBytes(id)]);
  const batch = (await findSmsBatchForUpdate(own.workspaceId, id))!;
  const chunk = await openChunks().take({ ...batch, rowCount: 2 }, { size: 500, givesUp: false });
  expect([chunk.positions, chunk.made.length, chunk.upTo]).toEqual([[0, 1], 2, 2]);
});
