import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import { keyOfAddress } from '../../formats/sms/sender-name.ts';
import type { SmsLane } from '../../schemas/lanes.ts';
import type { SmsEncoding } from '../../schemas/sms/parts.ts';
import type { SmsDirection, SmsReason, SmsStatus } from '../../schemas/sms/sms.ts';
import {
  binaryText,
  boolean,
  id,
  int,
  number,
  outsideBinaryText,
  sharedId,
  text,
  time,
} from '../client/columns.ts';
import { findRow, insertRow, updateRow } from '../client/rows.ts';
import { failureReason, group, type RecordOf, type RowOf, table } from '../client/table.ts';
import { byId, execute, query } from '../client.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { changeBatchCounts } from './batches/counts.ts';

/** The text messages of a workspace, for requests and for the transactions that change single messages. */

export const sms = table('sms_messages', {
  id: id('sms'),
  workspaceId: sharedId('workspace'),
  direction: text<SmsDirection>(),
  status: text<SmsStatus>(),
  /** A name, or a number in E.164. */
  sender: binaryText(),
  recipient: binaryText(),
  content: text(),
  country: text().nullable(),
  parts: int(),
  encoding: text<SmsEncoding>(),
  /** In ten-thousandths. */
  cost: group({ gbp: number().nullable(), eur: number().nullable() }),
  /** The charge to the balance of the workspace, in ten-thousandths of a pound. */
  charged: number(),
  /** The key whose limits its parts count against. */
  lineageId: sharedId('key').nullable(),
  reason: failureReason<SmsReason['category']>('sms_messages'),
  clientReference: binaryText().nullable(),
  clientTag: binaryText().nullable(),
  batchId: sharedId('batch').nullable(),
  contactId: id('contact').nullable(),
  templateName: binaryText().nullable(),
  inReplyTo: id('sms').nullable(),
  createdAt: time(),
  updatedAt: time(),
  scheduledAt: time().nullable(),
  sentAt: time().nullable(),
  deliveredAt: time().nullable(),
  /** When the text is due next: while a worker has it, the end of the lease; while it is held, the end of that time. */
  dueAt: time().nullable(),
  lane: text<SmsLane>(),
  /** Without a job in Redis. */
  parked: boolean(),
  claims: int(),
  retries: int(),
  uncertainCount: int(),
  /** A gateway has accepted some of the parts of a text with several. */
  isPartlyTaken: boolean(),
  handoverAt: time().nullable(),
  /** The gateway of the hand-over that began then. Without `handoverAt`: the gateway because of which the text waits. */
  handoverGateway: binaryText().nullable(),
  /**
   * The start of the time for retries: when a gateway first refused the text for now, and took no other texts either.
   */
  triedAt: time().nullable(),
  gateway: binaryText().nullable(),
  gatewayReference: outsideBinaryText('sms_messages.gateway_reference').nullable(),
  /** How many events this message has had. */
  eventSeq: int(),
  requestId: binaryText().nullable(),
});
/** The fields that a new text has. */
export const accepted = sms.omit(
  'claims',
  'retries',
  'uncertainCount',
  'isPartlyTaken',
  'handoverAt',
  'handoverGateway',
  'triedAt',
  'gateway',
  'gatewayReference',
);
/** The fields that may change, without the ones that belong to a lease. */
const changing = sms.pick(
  'status',
  'charged',
  'reason',
  'updatedAt',
  'sentAt',
  'deliveredAt',
  'dueAt',
  'parked',
  'eventSeq',
);
export type SmsRecord = RecordOf<typeof sms>;

/** Tells whether the text is still to be handed over. */
const isWaiting = ({ status }: Pick<SmsRecord, 'status'>) => status === 'queued' || status === 'held';

export async function insertSms(workspaceId: string, record: SmsRecord): Promise<void> {
  await insertRow(workspaceId, accepted, record);
  await countNew(workspaceId, [record]);
}

/** Adds new messages to the counts of waiting work, and of their batches. */
export async function countNew(workspaceId: string, records: SmsRecord[]): Promise<void> {
  const messages = records.filter(isWaiting).length;
  if (messages > 0) await changeWaiting(workspaceId, { messages });
  const alike = Map.groupBy(records, ({ batchId, status }) => `${batchId} ${status}`);
  for (const group of alike.values()) {
    const { batchId, status } = group[0]!;
    if (batchId === null) continue;
    const sum = (of: (record: SmsRecord) => number | null) =>
      group.reduce((total, record) => total + (of(record) ?? 0), 0);
    // The time of the last one: all are new, so it is the newest.
    await changeBatchCounts(workspaceId, batchId, group.at(-1)!.updatedAt, {
      [status]: group.length,
      parts: sum(({ parts }) => parts),
      costGbp: sum(({ cost }) => cost.gbp),
      costEur: sum(({ cost }) => cost.eur),
    });
  }
}

/** Changes the counts of the batch when a message changes its status; call it in the same transaction. */
export async function countInBatch(workspaceId: string, before: SmsStatus, record: SmsRecord): Promise<void> {
  const { batchId, status, updatedAt } = record;
  if (batchId === null || before === status) return;
  const sentAt = status === 'sent' ? record.sentAt : null;
  await changeBatchCounts(workspaceId, batchId, updatedAt, { [before]: -1, [status]: 1, sentAt });
}

/** Writes the fields that may change. The row must be locked by `findSmsForUpdate`; `before` is its state then. */
export async function updateSms(
  workspaceId: string,
  before: Pick<SmsRecord, 'status'>,
  record: SmsRecord,
): Promise<void> {
  await updateRow(workspaceId, changing, record);
  const messages = Number(isWaiting(record)) - Number(isWaiting(before));
  if (messages !== 0) await changeWaiting(workspaceId, { messages });
  await countInBatch(workspaceId, before.status, record);
}

export function findSms(workspaceId: string, smsId: string): Promise<SmsRecord | null> {
  return findRow(workspaceId, sms, { id: smsId });
}

/** Returns the text, locked: nobody else changes or claims it. `isLeased`: a worker has a lease on it. */
export async function findSmsForUpdate(
  workspaceId: string,
  smsId: string,
): Promise<{ record: SmsRecord; isLeased: boolean } | null> {
  const [row] = await execute<(RowOf<typeof sms> & { lease_token: Buffer | null })[]>(
    `SELECT * FROM sms_messages ${byId} WHERE id = ? AND workspace_id = ? FOR UPDATE`,
    [idToBytes(smsId), idToBytes(workspaceId)],
  );
  return row ? { record: sms.toRecord(row), isLeased: row.lease_token !== null } : null;
}

/** Tells whether messages are held until the workspace can pay. */
export async function findHasHeldSms(workspaceId: string): Promise<boolean> {
  const [row] = await execute(
    "SELECT 1 FROM sms_messages WHERE status = 'held' AND workspace_id = ? LIMIT 1",
    [idToBytes(workspaceId)],
  );
  return row !== undefined;
}

/**
 * Tells whether messages from this address are still to be handed over. `since`: looks only at messages made since
 * then; null: at all.
 */
export async function findHasWaitingSmsFrom(
  workspaceId: string,
  address: string,
  since: Date | null,
): Promise<boolean> {
  const from = since === null ? Buffer.alloc(0) : firstUuidAt(since);
  for (const status of ['queued', 'held']) {
    const [row] = await execute(
      `SELECT 1 FROM sms_messages FORCE INDEX (sms_by_status)
       WHERE status = ? AND workspace_id = ? AND id >= ? AND LOWER(CONVERT(sender USING utf8mb4)) = ? LIMIT 1`,
      [status, idToBytes(workspaceId), from, keyOfAddress(address)],
    );
    if (row) return true;
  }
  return false;
}

/** Lists held texts, oldest first, locked until the transaction ends. */
export async function listHeldSmsForUpdate(workspaceId: string, limit: number): Promise<SmsRecord[]> {
  return sms.toRecords(
    await query(
      `SELECT * FROM sms_messages FORCE INDEX (sms_by_status) WHERE status = 'held' AND workspace_id = ?
     ORDER BY id LIMIT ? FOR UPDATE`,
      [idToBytes(workspaceId), limit],
    ),
  );
}

/** Returns the last outbound text to this phone, made since then, whose hand-over has at least begun. */
export async function findLastSmsTo(
  workspaceId: string,
  recipient: string,
  since: Date,
): Promise<SmsRecord | null> {
  return sms.toFirst(
    await execute(
      `SELECT * FROM sms_messages FORCE INDEX (sms_by_recipient) WHERE workspace_id = ? AND recipient = ? AND id >= ?
       AND direction = 'outbound' AND (sent_at IS NOT NULL OR handover_at IS NOT NULL) ORDER BY id DESC LIMIT 1`,
      [idToBytes(workspaceId), Buffer.from(recipient), firstUuidAt(since)],
    ),
  );
}
