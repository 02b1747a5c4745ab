import { idToBytes } from '../../../formats/ids.ts';
import type { Unicode } from '../../../formats/sms/gsm-7.ts';
import { binaryText, id, int, json, text } from '../../client/columns.ts';
import { type RecordOf, table } from '../../client/table.ts';
import { byId, changeRows, execute, written } from '../../client.ts';
import { changeWaiting } from '../../work/waiting-counts.ts';
import { changeBatchCounts } from './counts.ts';

/** A row that becomes a message. Where a field is null, the value of the batch is used. */
const batchRows = table('sms_batch_rows', {
  position: int(),
  /** E.164. */
  number: binaryText(),
  country: text().nullable(),
  contactId: id('contact').nullable(),
  sender: binaryText().nullable(),
  content: text().nullable(),
  unicode: text<Unicode>().nullable(),
  clientReference: binaryText().nullable(),
  data: json<Record<string, unknown>>().nullable(),
});
/** The columns in which a row may differ from its batch. */
const own = batchRows.omit('position', 'number');
export type BatchRow = RecordOf<typeof batchRows>;

// A statement stays far below the size that the server accepts: one row may have a megabyte of merge data.
const mostStatement = 1024 * 1024;
const rowsAtOnce = 1_000;

/**
 * Adds rows to a batch and counts them as waiting; returns how many. `bytes`: the size stored with them, which counts
 * too. With `once`, a number that the batch already has is skipped.
 */
export async function insertBatchRows(
  workspaceId: string,
  { batchId, at, once, bytes }: { batchId: string; at: Date; once: boolean; bytes: number },
  rows: BatchRow[],
): Promise<number> {
  const [batch, workspace] = [idToBytes(batchId), idToBytes(workspaceId)];
  const start = `INSERT ${once ? 'IGNORE ' : ''}INTO sms_batch_rows (batch_id, position, workspace_id, number, once,
    ${own.columns}) VALUES `;
  const head = [batch, workspace].map(written);
  let added = 0;
  let texts: string[] = [];
  let length = 0;
  const send = async () => {
    if (texts.length === 0) return;
    added += await changeRows(start + texts.join(','));
    [texts, length] = [[], 0];
  };
  for (const row of rows) {
    const number = written(row.number);
    const rest = own.toValues(row).map(written);
    const text = `(${head[0]},${row.position},${head[1]},${number},${once ? number : 'NULL'},${rest.join(',')})`;
    if (texts.length === rowsAtOnce || length + text.length > mostStatement) await send();
    texts.push(text);
    length += text.length;
  }
  await send();
  if (added > 0 || bytes > 0) await changeWaiting(workspaceId, { messages: added, bytes });
  if (added > 0) await changeBatchCounts(workspaceId, batchId, at, { waiting: added });
  return added;
}

/** The next rows of a batch from position `from` up to, but not including, `to`, in order. */
export async function listBatchRows(
  workspaceId: string,
  batchId: string,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<BatchRow[]> {
  return batchRows.toRecords(
    await execute(
      `SELECT ${batchRows.columns}
     FROM sms_batch_rows ${byId} WHERE batch_id = ? AND position >= ? AND position < ?
       AND workspace_id = ? ORDER BY position LIMIT ?`,
      [idToBytes(batchId), from, to, idToBytes(workspaceId), limit],
    ),
  );
}
