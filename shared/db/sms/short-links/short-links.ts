import { portionsOf } from '../../../common/portions.ts';
import { idToBytes } from '../../../formats/ids.ts';
import { bytes, id, int, sharedId, text, time } from '../../client/columns.ts';
import { type RecordOf, table } from '../../client/table.ts';
import { execute, query } from '../../client.ts';

/** The short links in the texts of a workspace, and their totals for each batch. */

const clicked = { clicks: int(), firstClickedAt: time().nullable(), lastClickedAt: time().nullable() };
export const shortLinks = table('short_links', {
  id: id('link'),
  workspaceId: sharedId('workspace'),
  smsId: id('sms'),
  /** Its place among the links of the message. */
  place: int(),
  batchId: sharedId('batch').nullable(),
  url: text(),
  /** Of a batch's link: the hash of the URL as it was before rendering, which identifies that URL. */
  writtenHash: bytes().nullable(),
  tokenHash: bytes(),
  /** Sealed. */
  token: bytes(),
  ...clicked,
});
const newShortLinks = shortLinks.omit('clicks', 'firstClickedAt', 'lastClickedAt');
export type NewShortLinkRecord = Omit<RecordOf<typeof newShortLinks>, 'workspaceId' | 'writtenHash'> & {
  /** Of a batch's link: the URL as it was before rendering, and the hash that identifies it. */
  written: { url: string; hash: Buffer } | null;
};
type ShortLinkRecord = RecordOf<typeof shortLinks>;

// A URL may have 8 kB, and a server may take no more than 16 MiB in a statement.
const rowsAtOnce = 1_000;

/** Inserts the links of all these messages. */
export async function insertShortLinks(workspaceId: string, records: NewShortLinkRecord[]): Promise<void> {
  for (const some of portionsOf(records, rowsAtOnce))
    await query(`INSERT INTO ${newShortLinks.into} VALUES ?`, [
      some.map((record) =>
        newShortLinks.toValues({ ...record, workspaceId, writtenHash: record.written?.hash ?? null }),
      ),
    ]);
}

const totals = table('short_link_totals', {
  batchId: id('batch'),
  writtenHash: bytes(),
  workspaceId: sharedId('workspace'),
  url: text(),
  messages: int(),
  clickedMessages: int(),
  ...clicked,
});
const newTotals = totals.pick('batchId', 'writtenHash', 'workspaceId', 'url', 'messages');
export type NewTotal = { batchId: string; hash: Buffer; url: string; messages: number };

/**
 * Adds messages to the totals of their batches, and inserts totals that are missing. Rows are written in one order, so
 * that transactions cannot deadlock.
 */
export async function insertShortLinkTotals(workspaceId: string, changes: NewTotal[]): Promise<void> {
  // Ids sort as their bytes do.
  const ordered = changes.toSorted((one, other) =>
    one.batchId === other.batchId
      ? Buffer.compare(one.hash, other.hash)
      : one.batchId < other.batchId
        ? -1
        : 1,
  );
  for (const some of portionsOf(ordered, rowsAtOnce))
    await query(
      `INSERT INTO ${newTotals.into} VALUES ? ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages)`,
      [some.map(({ hash, ...total }) => newTotals.toValues({ ...total, writtenHash: hash, workspaceId }))],
    );
}

/** In the order in which they are in the text. */
export async function listShortLinksOfSms(workspaceId: string, smsId: string): Promise<ShortLinkRecord[]> {
  return shortLinks.toRecords(
    await execute('SELECT * FROM short_links WHERE sms_id = ? AND workspace_id = ? ORDER BY place', [
      idToBytes(smsId),
      idToBytes(workspaceId),
    ]),
  );
}

type BatchLinkRecord = RecordOf<typeof totals>;

/** Most clicks first. */
export async function listBatchLinks(
  workspaceId: string,
  batchId: string,
  limit: number,
): Promise<BatchLinkRecord[]> {
  return totals.toRecords(
    await execute(
      `SELECT * FROM short_link_totals FORCE INDEX (short_link_totals_listed)
     WHERE batch_id = ? AND workspace_id = ? ORDER BY clicks DESC, written_hash DESC LIMIT ?`,
      [idToBytes(batchId), idToBytes(workspaceId), limit],
    ),
  );
}
