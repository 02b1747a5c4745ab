import { portionsOf } from '../../../common/portions.ts';
import { idToBytes } from '../../../formats/ids.ts';
import { bytes, id, int, sharedId, text, time } from '../../client/columns.ts';
import { group, type RecordOf, table } from '../../client/table.ts';
import { execute, query } from '../../client.ts';

/** The short links in the texts of a workspace, and their totals for each batch. */

const newShortLinks = table('short_links', {
  id: id('link'),
  smsId: id('sms'),
  /** Its place among the links of the message. */
  place: int(),
  batchId: sharedId('batch').nullable(),
  url: text(),
  /** Of a batch's link: the hash of the URL as it was before rendering, which identifies that URL. */
  written: group({ hash: bytes() }).nullable(),
  tokenHash: bytes(),
  /** Sealed. */
  token: bytes(),
});
export type NewShortLinkRecord = Omit<RecordOf<typeof newShortLinks>, 'written'> & {
  /** Of a batch's link: the URL as it was before rendering, and the hash that identifies it. */
  written: { url: string; hash: Buffer } | null;
};

const clicked = { clicks: int(), firstClickedAt: time().nullable(), lastClickedAt: time().nullable() };
const shortLinks = table('short_links', {
  id: id('link'),
  place: int(),
  url: text(),
  token: bytes(),
  ...clicked,
});
type ShortLinkRecord = RecordOf<typeof shortLinks>;

// A URL may have 8 kB, and a server may take no more than 16 MiB in a statement.
const rowsAtOnce = 1_000;

/** Inserts the links of all these messages. */
export async function insertShortLinks(workspaceId: string, records: NewShortLinkRecord[]): Promise<void> {
  for (const some of portionsOf(records, rowsAtOnce))
    await query(`INSERT INTO short_links (workspace_id, ${newShortLinks.columns}) VALUES ?`, [
      some.map((record) => [idToBytes(workspaceId), ...newShortLinks.toValues(record)]),
    ]);
}

export type NewTotal = { batchId: string; hash: Buffer; url: string; messages: number };

/**
 * Adds messages to the totals of their batches, and inserts totals that are missing. Rows are written in one order, so
 * that transactions cannot deadlock.
 */
export async function insertShortLinkTotals(workspaceId: string, totals: NewTotal[]): Promise<void> {
  const rows = totals.map(
    ({ batchId, hash, url, messages }) =>
      [idToBytes(batchId), hash, idToBytes(workspaceId), url, messages] as const,
  );
  rows.sort((one, other) => Buffer.compare(one[0], other[0]) || Buffer.compare(one[1], other[1]));
  for (const some of portionsOf(rows, rowsAtOnce))
    await query(
      `INSERT INTO short_link_totals (batch_id, written_hash, workspace_id, url, messages) VALUES ?
       ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages)`,
      [some],
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

const batchLinks = table('short_link_totals', {
  url: text(),
  messages: int(),
  clickedMessages: int(),
  ...clicked,
});
type BatchLinkRecord = RecordOf<typeof batchLinks>;

/** Most clicks first. */
export async function listBatchLinks(
  workspaceId: string,
  batchId: string,
  limit: number,
): Promise<BatchLinkRecord[]> {
  return batchLinks.toRecords(
    await execute(
      `SELECT * FROM short_link_totals FORCE INDEX (short_link_totals_listed)
     WHERE batch_id = ? AND workspace_id = ? ORDER BY clicks DESC, written_hash DESC LIMIT ?`,
      [idToBytes(batchId), idToBytes(workspaceId), limit],
    ),
  );
}
