import { firstUuidAt, idFromBytes, idToBytes } from '../../formats/ids.ts';
import { keyOfAddress } from '../../formats/sms/sender-name.ts';
import type { SmsLane } from '../../schemas/lanes.ts';
import type { SmsEncoding } from '../../schemas/sms/parts.ts';
import type { SmsDirection, SmsReason, SmsStatus } from '../../schemas/sms/sms.ts';
import { fitting } from '../client/outside-text.ts';
import { byId, bytesOf, execute, query, type Row } from '../client.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { changeBatchCounts } from './batches/counts.ts';

export type SmsRecord = {
  id: string;
  workspaceId: string;
  direction: SmsDirection;
  status: SmsStatus;
  /** A name, or a number in E.164. */
  sender: string;
  recipient: string;
  content: string;
  country: string | null;
  parts: number;
  encoding: SmsEncoding;
  /** In ten-thousandths. */
  cost: { gbp: number | null; eur: number | null };
  /** The charge to the balance of the workspace, in ten-thousandths of a pound. */
  charged: number;
  /** The key whose limits its parts count against. */
  lineageId: string | null;
  reason: SmsReason | null;
  clientReference: string | null;
  clientTag: string | null;
  batchId: string | null;
  contactId: string | null;
  templateName: string | null;
  inReplyTo: string | null;
  createdAt: Date;
  updatedAt: Date;
  scheduledAt: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  /**
   * When it must be looked at next: the end of the lease while a worker holds it, the end of waiting while it is held.
   */
  dueAt: Date | null;
  lane: SmsLane;
  /** Without a job in Redis. */
  parked: boolean;
  claims: number;
  retries: number;
  uncertainCount: number;
  handoverAt: Date | null;
  gateway: string | null;
  gatewayReference: string | null;
  /** How many events this message has had. */
  eventSeq: number;
  requestId: string | null;
};

/** Whether it is still to be handed over. */
const isWaiting = ({ status }: Pick<SmsRecord, 'status'>) => status === 'queued' || status === 'held';

export async function insertSms(workspaceId: string, record: SmsRecord): Promise<void> {
  await query('INSERT INTO sms_messages SET ?', [columnsOf(workspaceId, record)]);
  await countNew(workspaceId, [record]);
}

/** Counts new messages where what waits, and what a batch has, is counted. */
export async function countNew(workspaceId: string, records: SmsRecord[]): Promise<void> {
  const messages = records.filter(isWaiting).length;
  if (messages > 0) await changeWaiting(workspaceId, { messages });
  const alike = Map.groupBy(records, ({ batchId, status }) => `${batchId} ${status}`);
  for (const group of alike.values()) {
    const { batchId, status } = group[0]!;
    if (batchId === null) continue;
    const sum = (of: (record: SmsRecord) => number | null) =>
      group.reduce((total, record) => total + (of(record) ?? 0), 0);
    // The newest, as all of them are new.
    await changeBatchCounts(workspaceId, batchId, group.at(-1)!.updatedAt, {
      [status]: group.length,
      parts: sum(({ parts }) => parts),
      cost_gbp: sum(({ cost }) => cost.gbp),
      cost_eur: sum(({ cost }) => cost.eur),
    });
  }
}

/** The batch that a message is of counts it by its status, in the transaction that changes that. */
export async function countInBatch(
  workspaceId: string,
  before: SmsStatus,
  { batchId, status, ...record }: SmsRecord,
): Promise<void> {
  if (batchId === null || before === status) return;
  const sentAt = status === 'sent' ? record.sentAt : null;
  await changeBatchCounts(workspaceId, batchId, record.updatedAt, { [before]: -1, [status]: 1, sentAt });
}

/** `toBytes`: for ids that many records share, where there are many. */
export function columnsOf(workspaceId: string, record: SmsRecord, toBytes = idToBytes) {
  const optionalId = (id: string | null) => (id === null ? null : toBytes(id));
  return {
    id: idToBytes(record.id),
    workspace_id: toBytes(workspaceId),
    direction: record.direction,
    sender: Buffer.from(record.sender),
    recipient: Buffer.from(record.recipient),
    content: record.content,
    country: record.country,
    parts: record.parts,
    encoding: record.encoding,
    cost_gbp: record.cost.gbp,
    cost_eur: record.cost.eur,
    lineage_id: optionalId(record.lineageId),
    client_reference: bytesOf(record.clientReference),
    client_tag: bytesOf(record.clientTag),
    batch_id: optionalId(record.batchId),
    contact_id: optionalId(record.contactId),
    template_name: bytesOf(record.templateName),
    in_reply_to: optionalId(record.inReplyTo),
    created_at: record.createdAt,
    scheduled_at: record.scheduledAt,
    lane: record.lane,
    request_id: bytesOf(record.requestId),
    ...changing(record),
  };
}

/**
 * Everything that may change but what belongs to a lease; the row, which was as `before` says, must be locked by
 * `findSmsForUpdate`.
 */
export async function updateSms(
  workspaceId: string,
  before: Pick<SmsRecord, 'status'>,
  record: SmsRecord,
): Promise<void> {
  await query(`UPDATE sms_messages ${byId} SET ? WHERE id = ? AND workspace_id = ?`, [
    changing(record),
    idToBytes(record.id),
    idToBytes(workspaceId),
  ]);
  const messages = Number(isWaiting(record)) - Number(isWaiting(before));
  if (messages !== 0) await changeWaiting(workspaceId, { messages });
  await countInBatch(workspaceId, before.status, record);
}

function changing(record: SmsRecord) {
  return {
    status: record.status,
    charged: record.charged,
    reason_category: record.reason?.category ?? null,
    reason_code: fitting('sms_messages.reason_code', record.reason?.code ?? null),
    reason_description: fitting('sms_messages.reason_description', record.reason?.description ?? null),
    reason_retryable: record.reason ? Number(record.reason.retryable) : null,
    updated_at: record.updatedAt,
    sent_at: record.sentAt,
    delivered_at: record.deliveredAt,
    due_at: record.dueAt,
    parked: Number(record.parked),
    event_seq: record.eventSeq,
  };
}

const one = `SELECT * FROM sms_messages ${byId} WHERE id = ? AND workspace_id = ?`;

export async function findSms(workspaceId: string, smsId: string): Promise<SmsRecord | null> {
  const [row] = await execute(one, [idToBytes(smsId), idToBytes(workspaceId)]);
  return row ? toRecord(row) : null;
}

/** Nobody else changes or claims it until the transaction ends; `isLeased`: a worker has it in hand. */
export async function findSmsForUpdate(
  workspaceId: string,
  smsId: string,
): Promise<{ record: SmsRecord; isLeased: boolean } | null> {
  const [row] = await execute(`${one} FOR UPDATE`, [idToBytes(smsId), idToBytes(workspaceId)]);
  return row ? { record: toRecord(row), isLeased: row.lease_token !== null } : null;
}

/** Whether messages wait until the workspace can pay. */
export async function findHasHeldSms(workspaceId: string): Promise<boolean> {
  const [row] = await execute(
    "SELECT 1 FROM sms_messages WHERE status = 'held' AND workspace_id = ? LIMIT 1",
    [idToBytes(workspaceId)],
  );
  return row !== undefined;
}

/** Whether messages from this address are still to be handed over. */
export async function findHasWaitingSmsFrom(workspaceId: string, address: string): Promise<boolean> {
  for (const status of ['queued', 'held']) {
    const [row] = await execute(
      `SELECT 1 FROM sms_messages FORCE INDEX (sms_by_status)
       WHERE status = ? AND workspace_id = ? AND LOWER(CONVERT(sender USING utf8mb4)) = ? LIMIT 1`,
      [status, idToBytes(workspaceId), keyOfAddress(address)],
    );
    if (row) return true;
  }
  return false;
}

/** Oldest first, locked until the transaction ends. */
export async function listHeldSmsForUpdate(workspaceId: string, limit: number): Promise<SmsRecord[]> {
  const rows = await query(
    `SELECT * FROM sms_messages FORCE INDEX (sms_by_status) WHERE status = 'held' AND workspace_id = ?
     ORDER BY id LIMIT ? FOR UPDATE`,
    [idToBytes(workspaceId), limit],
  );
  return rows.map(toRecord);
}

/** The last text that was handed over for this phone since then. */
export async function findLastSmsTo(
  workspaceId: string,
  recipient: string,
  since: Date,
): Promise<SmsRecord | null> {
  const [row] = await execute(
    `SELECT * FROM sms_messages FORCE INDEX (sms_by_recipient) WHERE workspace_id = ? AND recipient = ? AND id >= ?
       AND direction = 'outbound' AND (sent_at IS NOT NULL OR handover_at IS NOT NULL) ORDER BY id DESC LIMIT 1`,
    [idToBytes(workspaceId), Buffer.from(recipient), firstUuidAt(since)],
  );
  return row ? toRecord(row) : null;
}

const optional = <Value>(value: Buffer | null, read: (bytes: Buffer) => Value): Value | null =>
  value === null ? null : read(value);
const money = (value: unknown) => (value === null ? null : Number(value));

export function toRecord(row: Row): SmsRecord {
  return {
    id: idFromBytes('sms', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    direction: row.direction,
    status: row.status,
    sender: row.sender.toString(),
    recipient: row.recipient.toString(),
    content: row.content,
    country: row.country,
    parts: row.parts,
    encoding: row.encoding,
    cost: { gbp: money(row.cost_gbp), eur: money(row.cost_eur) },
    charged: Number(row.charged),
    lineageId: optional(row.lineage_id, (bytes) => idFromBytes('key', bytes)),
    reason: row.reason_category
      ? {
          category: row.reason_category,
          code: row.reason_code,
          description: row.reason_description,
          retryable: row.reason_retryable === 1,
        }
      : null,
    clientReference: optional(row.client_reference, String),
    clientTag: optional(row.client_tag, String),
    batchId: optional(row.batch_id, (bytes) => idFromBytes('batch', bytes)),
    contactId: optional(row.contact_id, (bytes) => idFromBytes('contact', bytes)),
    templateName: optional(row.template_name, String),
    inReplyTo: optional(row.in_reply_to, (bytes) => idFromBytes('sms', bytes)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    scheduledAt: row.scheduled_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    dueAt: row.due_at,
    lane: row.lane,
    parked: row.parked === 1,
    claims: row.claims,
    retries: row.retries,
    uncertainCount: row.uncertain_count,
    handoverAt: row.handover_at,
    gateway: optional(row.gateway, String),
    gatewayReference: optional(row.gateway_reference, String),
    eventSeq: row.event_seq,
    requestId: optional(row.request_id, String),
  };
}
