import type { SmsReason } from '../../schemas/sms/sms.ts';
import { fitting } from '../client/outside-text.ts';
import { type Changed, execute, query, type Row } from '../client.ts';

/** A gateway's report about a message that it took; without a reason it was delivered. */
export type ReportedReceipt = MessageReference & { reason: SmsReason | null };
/** A message that a gateway took, and what it calls it. */
export type MessageReference = { gateway: string; reference: string };

/** The first receipt of a reference stays. */
export async function insertUnmatchedReceipt(receipt: ReportedReceipt, at: Date): Promise<void> {
  const { gateway, reference, reason } = receipt;
  await query(
    `INSERT IGNORE INTO sms_receipts_unmatched (gateway, reference, reason_category, reason_code,
       reason_description, reason_retryable, received_at) VALUES (?)`,
    [
      [
        Buffer.from(gateway),
        nameOf(reference),
        reason?.category ?? null,
        fitting('sms_receipts_unmatched.reason_code', reason?.code ?? null),
        fitting('sms_receipts_unmatched.reason_description', reason?.description ?? null),
        reason ? Number(reason.retryable) : null,
        at,
      ],
    ],
  );
}

export async function findUnmatchedReceipt(
  gateway: string,
  reference: string,
): Promise<ReportedReceipt | null> {
  const [row] = await execute('SELECT * FROM sms_receipts_unmatched WHERE gateway = ? AND reference = ?', [
    Buffer.from(gateway),
    nameOf(reference),
  ]);
  return row ? toReceipt(row) : null;
}

/** Of these messages, by what their gateways call them. */
export async function listUnmatchedReceipts(messages: MessageReference[]): Promise<ReportedReceipt[]> {
  const rows = await query('SELECT * FROM sms_receipts_unmatched WHERE (gateway, reference) IN (?)', [
    messages.map(({ gateway, reference }) => [Buffer.from(gateway), nameOf(reference)]),
  ]);
  return rows.map(toReceipt);
}

/** Receipts whose message is known by now; `{reference} 1` is also the only part of a text of one. */
export async function listMatchableReceipts(limit: number): Promise<ReportedReceipt[]> {
  const rows = await query(
    `SELECT r.* FROM sms_receipts_unmatched r STRAIGHT_JOIN sms_messages m FORCE INDEX (sms_of_gateway)
       ON m.gateway_reference = r.reference AND m.gateway = r.gateway
     UNION
     SELECT r.* FROM sms_receipts_unmatched r STRAIGHT_JOIN sms_parts p ON p.reference = r.reference AND p.gateway = r.gateway
       STRAIGHT_JOIN sms_messages m ON m.id = p.sms_id AND m.status <> 'queued'
     UNION
     SELECT r.* FROM sms_receipts_unmatched r STRAIGHT_JOIN sms_messages m FORCE INDEX (sms_of_gateway)
       ON m.gateway_reference = SUBSTRING(r.reference, 1, LENGTH(r.reference) - 2) AND m.gateway = r.gateway
     WHERE r.reference LIKE '% 1' AND m.parts = 1 LIMIT ?`,
    [limit],
  );
  return rows.map(toReceipt);
}

export async function deleteUnmatchedReceipt(gateway: string, reference: string): Promise<void> {
  await execute('DELETE FROM sms_receipts_unmatched WHERE gateway = ? AND reference = ?', [
    Buffer.from(gateway),
    nameOf(reference),
  ]);
}

export async function deleteReceiptsBefore(until: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    'DELETE FROM sms_receipts_unmatched WHERE received_at < ? ORDER BY received_at LIMIT ?',
    [until, limit],
  );
  return affectedRows;
}

const nameOf = (reference: string) => Buffer.from(fitting('sms_receipts_unmatched.reference', reference));

function toReceipt(row: Row): ReportedReceipt {
  return {
    gateway: row.gateway.toString(),
    reference: row.reference.toString(),
    reason: row.reason_category && {
      category: row.reason_category,
      code: row.reason_code,
      description: row.reason_description,
      retryable: row.reason_retryable === 1,
    },
  };
}
