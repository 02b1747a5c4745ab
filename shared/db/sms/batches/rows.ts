import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { Unicode } from '../../../formats/sms/gsm-7.ts';
import { byId, execute, query, type Row, written } from '../../client.ts';
import { changeWaiting } from '../../work/waiting-counts.ts';
import { changeBatchCounts } from './counts.ts';

/** A row that becomes a message. A field that is null is as the batch says. */
export type BatchRow = {
  position: number;
  /** E.164. */
  number: string;
  country: string | null;
  contactId: string | null;
  sender: string | null;
  content: string | null;
  unicode: Unicode | null;
  clientReference: string | null;
  data: Record<string, unknown> | null;
};

// Statements stay small beside what the server takes: a row may have merge data of a megabyte.
const mostStatement = 1024 * 1024;
const rowsAtOnce = 1_000;

/**
 * Adds rows to a batch, which count as waiting; returns how many. With `once`, a number that the batch has already is
 * left out.
 */
export async function insertBatchRows(
  workspaceId: string,
  { batchId, at, once }: { batchId: string; at: Date; once: boolean },
  rows: BatchRow[],
): Promise<number> {
  const [batch, workspace] = [idToBytes(batchId), idToBytes(workspaceId)];
  const start = `INSERT ${once ? 'IGNORE ' : ''}INTO sms_batch_rows (batch_id, position, workspace_id, number, once,
    country, contact_id, sender, content, unicode, client_reference, data) VALUES `;
  const head = [batch, workspace].map(written);
  let added = 0;
  let texts: string[] = [];
  let length = 0;
  const send = async () => {
    if (texts.length === 0) return;
    const { affectedRows } = await query<{ affectedRows: number }>(start + texts.join(','));
    added += affectedRows;
    [texts, length] = [[], 0];
  };
  for (const row of rows) {
    const number = written(row.number);
    const rest = [
      row.country,
      row.contactId === null ? null : idToBytes(row.contactId),
      row.sender,
      row.content,
      row.unicode,
      row.clientReference,
      row.data && JSON.stringify(row.data),
    ].map(written);
    const text = `(${head[0]},${row.position},${head[1]},${number},${once ? number : 'NULL'},${rest.join(',')})`;
    if (texts.length === rowsAtOnce || length + text.length > mostStatement) await send();
    texts.push(text);
    length += text.length;
  }
  await send();
  if (added > 0) {
    await changeWaiting(workspaceId, { messages: added });
    await changeBatchCounts(workspaceId, batchId, at, { waiting: added });
  }
  return added;
}

/** The next rows of a batch, in order. */
export async function listBatchRows(
  workspaceId: string,
  batchId: string,
  { from, limit }: { from: number; limit: number },
): Promise<BatchRow[]> {
  const rows = await execute(
    `SELECT position, number, country, contact_id, sender, content, unicode, client_reference, data
     FROM sms_batch_rows ${byId} WHERE batch_id = ? AND position >= ? AND workspace_id = ?
     ORDER BY position LIMIT ?`,
    [idToBytes(batchId), from, idToBytes(workspaceId), limit],
  );
  return rows.map(toRow);
}

const text = (value: Buffer | null) => (value === null ? null : value.toString());

function toRow(row: Row): BatchRow {
  return {
    position: row.position,
    number: row.number.toString(),
    country: row.country,
    contactId: row.contact_id && idFromBytes('contact', row.contact_id),
    sender: text(row.sender),
    content: row.content,
    unicode: row.unicode,
    clientReference: text(row.client_reference),
    data: row.data && JSON.parse(row.data),
  };
}
