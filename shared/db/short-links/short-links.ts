import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { execute, query, type Row } from '../client.ts';

export type NewShortLinkRecord = {
  id: string;
  smsId: string;
  /** Its place among the links of the message. */
  place: number;
  batchId: string | null;
  url: string;
  /** Of a batch's link: the URL before rendering, and what it is known by. */
  written: { url: string; hash: Buffer } | null;
  tokenHash: Buffer;
  /** Sealed. */
  token: Buffer;
};

type Clicked = { clicks: number; firstClickedAt: Date | null; lastClickedAt: Date | null };
export type ShortLinkRecord = { id: string; place: number; url: string; token: Buffer } & Clicked;

/** In one statement, whatever the messages. */
export async function insertShortLinks(workspaceId: string, records: NewShortLinkRecord[]): Promise<void> {
  await query(
    `INSERT INTO short_links
       (sms_id, place, id, workspace_id, batch_id, written_hash, url, token_hash, token) VALUES ?`,
    [
      records.map((record) => [
        idToBytes(record.smsId),
        record.place,
        idToBytes(record.id),
        idToBytes(workspaceId),
        record.batchId && idToBytes(record.batchId),
        record.written?.hash ?? null,
        record.url,
        record.tokenHash,
        record.token,
      ]),
    ],
  );
}

export type NewTotal = { batchId: string; hash: Buffer; url: string; messages: number };

/** Adds messages to the totals of their batches; those of nobody yet are made. In an order, so that nobody waits in a circle. */
export async function insertShortLinkTotals(workspaceId: string, totals: NewTotal[]): Promise<void> {
  const rows = totals.map(
    ({ batchId, hash, url, messages }) =>
      [idToBytes(batchId), hash, idToBytes(workspaceId), url, messages] as const,
  );
  rows.sort((one, other) => Buffer.compare(one[0], other[0]) || Buffer.compare(one[1], other[1]));
  await query(
    `INSERT INTO short_link_totals (batch_id, written_hash, workspace_id, url, messages) VALUES ?
     ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages)`,
    [rows],
  );
}

/** In the order in which they are in the text. */
export async function listShortLinksOfSms(workspaceId: string, smsId: string): Promise<ShortLinkRecord[]> {
  const rows = await execute(
    'SELECT * FROM short_links WHERE sms_id = ? AND workspace_id = ? ORDER BY place',
    [idToBytes(smsId), idToBytes(workspaceId)],
  );
  return rows.map((row) => ({
    id: idFromBytes('link', row.id),
    place: row.place,
    url: row.url,
    token: row.token,
    ...clickedOf(row),
  }));
}

export type BatchLinkRecord = { url: string; messages: number; clickedMessages: number } & Clicked;

/** Most clicks first. */
export async function listBatchLinks(
  workspaceId: string,
  batchId: string,
  limit: number,
): Promise<BatchLinkRecord[]> {
  const rows = await execute(
    `SELECT * FROM short_link_totals FORCE INDEX (short_link_totals_listed)
     WHERE batch_id = ? AND workspace_id = ? ORDER BY clicks DESC, written_hash DESC LIMIT ?`,
    [idToBytes(batchId), idToBytes(workspaceId), limit],
  );
  return rows.map((row) => ({
    url: row.url,
    messages: row.messages,
    clickedMessages: row.clicked_messages,
    ...clickedOf(row),
  }));
}

const clickedOf = (row: Row): Clicked => ({
  clicks: row.clicks,
  firstClickedAt: row.first_clicked_at,
  lastClickedAt: row.last_clicked_at,
});
