import { idToBytes } from '../../../formats/ids.ts';
import type { RowOf } from '../../client/table.ts';
import { execute } from '../../client.ts';
import { smsBatches } from './batches.ts';

const lists = smsBatches.pick('lists');

/** Tells whether a batch of the workspace that still has messages to make excludes the contacts of this list. */
export async function findIsListLeftOut(workspaceId: string, listId: string): Promise<boolean> {
  const rows = await execute<RowOf<typeof lists>[]>(
    `SELECT ${lists.columns} FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state IN ('scheduled', 'processing', 'paused') AND expanding = 1
       AND lists IS NOT NULL`,
    [idToBytes(workspaceId)],
  );
  return lists.toRecords(rows).some((batch) => batch.lists!.excludeLists.includes(listId));
}
