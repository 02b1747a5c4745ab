import type { SmsReason } from '../../schemas/sms/sms.ts';
import { binaryText, outsideBinaryText } from '../client/columns.ts';
import { fitting } from '../client/outside-text.ts';
import { failureReason, type RecordOf, table } from '../client/table.ts';
import { comparedKey, execute, query } from '../client.ts';

/** Receipts of gateways that matched no known message when they came. */

const receipts = table('sms_receipts_unmatched', {
  gateway: binaryText(),
  reference: outsideBinaryText('sms_receipts_unmatched.reference'),
  reason: failureReason<SmsReason['category']>('sms_receipts_unmatched'),
});
/** A gateway's report about a message that it took; without a reason it was delivered. */
export type ReportedReceipt = RecordOf<typeof receipts>;
/** A message that a gateway accepted, by the reference that the gateway gave. */
export type MessageReference = { gateway: string; reference: string };

/** Stores a receipt that matches no known message; the first receipt of a reference stays. */
export async function insertUnmatchedReceipt(receipt: ReportedReceipt, at: Date): Promise<void> {
  await query('INSERT IGNORE INTO sms_receipts_unmatched SET ?', [
    { ...receipts.toRow(receipt), received_at: at },
  ]);
}

export async function findUnmatchedReceipt(
  gateway: string,
  reference: string,
): Promise<ReportedReceipt | null> {
  return receipts.toFirst(
    await execute('SELECT * FROM sms_receipts_unmatched WHERE gateway = ? AND reference = ?', [
      Buffer.from(gateway),
      nameOf(reference),
    ]),
  );
}

/** Lists the stored receipts of these messages. */
export async function listUnmatchedReceipts(messages: MessageReference[]): Promise<ReportedReceipt[]> {
  return receipts.toRecords(
    await query('SELECT * FROM sms_receipts_unmatched WHERE (gateway, reference) IN (?)', [
      messages.map(keyOf),
    ]),
  );
}

const references = receipts.pick('gateway', 'reference');
/** The receipts that one call looks at: there may be millions that match nothing. */
const pageSize = 2_000;
const keyColumns = ['r.gateway', 'r.reference'];
/** No gateway's name comes before the first of these, or after the second. */
const start = [Buffer.of(), Buffer.of()];
const end = [Buffer.alloc(20, 0xff), Buffer.of()];

/**
 * Reads a page of the stored receipts after a place, and lists the ones whose message is known by now. `next` is the
 * place where the next page starts, or null after the last page. `{reference} 1` also names the only part of a text of
 * one part.
 */
export async function listMatchableReceipts(
  after: MessageReference | null,
  limit: number,
): Promise<{ matchable: MessageReference[]; next: MessageReference | null }> {
  // The table is nearly always empty, and the page takes two larger statements.
  const any = await query('SELECT 1 FROM sms_receipts_unmatched LIMIT 1');
  if (any.length === 0) return { matchable: [], next: null };
  const isAfter = comparedKey(keyColumns, '>', after ? keyOf(after) : start);
  const last = references.toFirst(
    await query(
      `SELECT ${references.columns} FROM sms_receipts_unmatched r WHERE ${isAfter.sql}
       ORDER BY gateway, reference LIMIT 1 OFFSET ?`,
      [...isAfter.values, pageSize - 1],
    ),
  );
  const isUpTo = comparedKey(keyColumns, '<=', last ? keyOf(last) : end);
  const page = `r.gateway, r.reference FROM sms_receipts_unmatched r FORCE INDEX (PRIMARY) STRAIGHT_JOIN`;
  const isOnPage = `${isAfter.sql} AND ${isUpTo.sql}`;
  const bounds = [...isAfter.values, ...isUpTo.values];
  const matchable = references.toRecords(
    await query(
      `SELECT ${page} sms_messages m FORCE INDEX (sms_of_gateway)
       ON m.gateway_reference = r.reference AND m.gateway = r.gateway WHERE ${isOnPage}
     UNION
     SELECT ${page} sms_parts p ON p.reference = r.reference AND p.gateway = r.gateway
       STRAIGHT_JOIN sms_messages m ON m.id = p.sms_id AND m.status <> 'queued' WHERE ${isOnPage}
     UNION
     SELECT ${page} sms_messages m FORCE INDEX (sms_of_gateway)
       ON m.gateway_reference = SUBSTRING(r.reference, 1, LENGTH(r.reference) - 2) AND m.gateway = r.gateway
     WHERE r.reference LIKE '% 1' AND m.parts = 1 AND ${isOnPage} ORDER BY gateway, reference LIMIT ?`,
      [...bounds, ...bounds, ...bounds, limit],
    ),
  );
  return { matchable, next: matchable.length < limit ? last : matchable.at(-1)! };
}

export async function deleteUnmatchedReceipt(gateway: string, reference: string): Promise<void> {
  await execute('DELETE FROM sms_receipts_unmatched WHERE gateway = ? AND reference = ?', [
    Buffer.from(gateway),
    nameOf(reference),
  ]);
}

const keyOf = ({ gateway, reference }: MessageReference) => [Buffer.from(gateway), nameOf(reference)];
const nameOf = (reference: string) => Buffer.from(fitting('sms_receipts_unmatched.reference', reference));
