import { firstUuidAt, idToBytes } from '../../../formats/ids.ts';
import type { RecordOf, RowOf } from '../../client/table.ts';
import { byId, changeRows, execute, type Param, query, tableOf } from '../../client.ts';
import { shortLinks } from './short-links.ts';

/** Short links of all workspaces, for the people who follow them, the counting of clicks, and retention. */

const found = shortLinks.pick('smsId', 'place', 'url');
type FoundShortLink = RecordOf<typeof found> & {
  recipient: string;
  /** The message was given to a gateway, or may have been. */
  isHandedOver: boolean;
  isBlocked: boolean;
};
type FoundRow = RowOf<typeof found> & { recipient: Buffer; sending_blocked: number; handed_over: number };

/** The short link, in any workspace. */
export async function findShortLink(tokenHash: Buffer): Promise<FoundShortLink | null> {
  const [row] = await execute<FoundRow[]>(
    `SELECT ${found.columnsOf('l')}, m.recipient, w.sending_blocked,
       (m.sent_at IS NOT NULL OR m.handover_at IS NOT NULL OR m.uncertain_count > 0
         OR m.is_partly_taken = 1) AS handed_over
     FROM short_links l JOIN sms_messages m ON m.id = l.sms_id JOIN workspaces w ON w.id = l.workspace_id
     WHERE l.token_hash = ?`,
    [tokenHash],
  );
  if (!row) return null;
  return {
    ...found.toRecord(row),
    recipient: row.recipient.toString(),
    isHandedOver: row.handed_over === 1,
    isBlocked: row.sending_blocked === 1,
  };
}

const counted = shortLinks.pick('smsId', 'place', 'batchId', 'writtenHash', 'clicks');
export type LinkToCount = RecordOf<typeof counted>;

/** All links of these messages, locked until the transaction ends. */
export async function listShortLinksForUpdate(smsIds: string[]): Promise<LinkToCount[]> {
  return counted.toRecords(
    await query(
      `SELECT ${counted.columns} FROM short_links ${byId}
     WHERE sms_id IN (?) ORDER BY sms_id, place FOR UPDATE`,
      [smsIds.map(idToBytes)],
    ),
  );
}

export type Clicks = { clicks: number; firstAt: Date; lastAt: Date };

// Without the CAST, a time in the text of a statement is compared as a text.
const [firstAt, lastAt] = ['first_at', 'last_at'].map((time) => `CAST(change_of.${time} AS DATETIME(3))`);
const add = (table: string) => `${table}.clicks = ${table}.clicks + change_of.clicks,
  ${table}.first_clicked_at = LEAST(COALESCE(${table}.first_clicked_at, ${firstAt}), ${firstAt}),
  ${table}.last_clicked_at = GREATEST(COALESCE(${table}.last_clicked_at, ${lastAt}), ${lastAt})`;
const clickColumns = ['clicks', 'first_at', 'last_at'];
const clicksOf = ({ clicks, firstAt, lastAt }: Clicks): Param[] => [clicks, firstAt, lastAt];

/** Adds clicks to links, which must be locked. */
export async function updateShortLinkClicks(
  changes: (Clicks & { smsId: string; place: number })[],
): Promise<void> {
  const rows = changes.map((change) => [idToBytes(change.smsId), change.place, ...clicksOf(change)]);
  await query(
    `UPDATE ${tableOf('change_of', ['sms_id', 'place', ...clickColumns], rows)}
     STRAIGHT_JOIN short_links ${byId} ON short_links.sms_id = change_of.sms_id AND short_links.place = change_of.place
     SET ${add('short_links')}`,
  );
}

export type TotalClicks = Clicks & { batchId: string; hash: Buffer; clickedMessages: number };

/** Adds clicks to the totals of the batches. */
export async function updateShortLinkTotals(changes: TotalClicks[]): Promise<void> {
  const rows = changes
    .map((change) => ({ ...change, batch: idToBytes(change.batchId) }))
    .toSorted((one, other) => one.batch.compare(other.batch) || one.hash.compare(other.hash))
    .map((change) => [change.batch, change.hash, change.clickedMessages, ...clicksOf(change)]);
  await query(
    `UPDATE ${tableOf('change_of', ['batch_id', 'written_hash', 'messages', ...clickColumns], rows)}
     STRAIGHT_JOIN short_link_totals ${byId} ON short_link_totals.batch_id = change_of.batch_id
       AND short_link_totals.written_hash = change_of.written_hash
     SET ${add('short_link_totals')}, clicked_messages = clicked_messages + change_of.messages`,
  );
}

/** Deletes a batch of links whose messages were made before `until` and are gone. */
export function deleteShortLinksBefore(until: Date, limit: number): Promise<number> {
  return changeRows(
    `DELETE FROM short_links WHERE sms_id < ?
       AND NOT EXISTS (SELECT 1 FROM sms_messages m WHERE m.id = short_links.sms_id) ORDER BY sms_id LIMIT ?`,
    [firstUuidAt(until), limit],
  );
}

/**
 * Deletes up to `limit` totals whose batches were made before `until` and are gone. A batch may outlive its messages: a
 * paused one goes on whenever it can. The batches are read without locks, so that no worker of a batch waits.
 */
export async function deleteShortLinkTotalsBefore(until: Date, limit: number): Promise<number> {
  const rows = await query<{ batch_id: Buffer }[]>(
    `SELECT DISTINCT t.batch_id FROM short_link_totals t WHERE t.batch_id < ?
       AND NOT EXISTS (SELECT 1 FROM sms_batches b WHERE b.id = t.batch_id) ORDER BY t.batch_id LIMIT ?`,
    [firstUuidAt(until), limit],
  );
  if (rows.length === 0) return 0;
  return changeRows('DELETE FROM short_link_totals WHERE batch_id IN (?) ORDER BY batch_id LIMIT ?', [
    rows.map((row) => row.batch_id),
    limit,
  ]);
}
