import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { Unicode } from '../../../formats/sms/gsm-7.ts';
import type { BatchLane } from '../../../schemas/lanes.ts';
import type { PausedReason, SmsBatchStatus } from '../../../schemas/sms/batches.ts';
import { listMatching, type Page } from '../../client/listing.ts';
import { byId, bytesOf, execute, query, type Row } from '../../client.ts';

export type SmsBatchRecord = {
  id: string;
  workspaceId: string;
  /** Null: nothing is left to do. */
  dueAt: Date | null;
  lane: BatchLane;
  /** Without a job in Redis. */
  parked: boolean;
  claims: number;
  /** The claims that were not lost: with the others it shows what kills worker after worker. */
  retries: number;
  requestId: string | null;
  /** The state that the caller sees. */
  state: SmsBatchStatus;
  source: 'messages' | 'lists' | 'file';
  sender: string | null;
  /** Liquid, as it was when the batch was accepted, a template's too. */
  content: string | null;
  templateName: string | null;
  data: Record<string, unknown>;
  unicode: Unicode;
  shortenLinks: boolean;
  clientReference: string | null;
  clientTag: string | null;
  /** The key whose limits its messages count against. */
  lineageId: string;
  lists: BatchLists | null;
  /** Which of the lists is being copied, and which contact of it came last. */
  listIndex: number;
  listAfter: string | null;
  /** Rows that it has, or had: the position of the next one. */
  rowCount: number;
  /** The first row that is no message yet. */
  nextPosition: number;
  expanding: boolean;
  /** How far the messages of a cancelled one are cancelled. */
  cancelledUpTo: string | null;
  pausedReason: PausedReason | null;
  /** Of the first message that could not be paid, or did not fit the limit. */
  pausedCost: number | null;
  pausedParts: number | null;
  eventSeq: number;
  createdAt: Date;
  updatedAt: Date;
  scheduledAt: Date | null;
  startedAt: Date | null;
  completedAt: Date | null;
};

export type BatchLists = { listIds: string[]; excludeLists: string[] };

export async function insertSmsBatch(workspaceId: string, record: SmsBatchRecord): Promise<void> {
  await query('INSERT INTO sms_batches SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      claims: record.claims,
      request_id: bytesOf(record.requestId),
      source: record.source,
      sender: bytesOf(record.sender),
      content: record.content,
      template_name: bytesOf(record.templateName),
      data: JSON.stringify(record.data),
      unicode: record.unicode,
      shorten_links: Number(record.shortenLinks),
      client_reference: bytesOf(record.clientReference),
      client_tag: bytesOf(record.clientTag),
      lists: record.lists && JSON.stringify(record.lists),
      created_at: record.createdAt,
      scheduled_at: record.scheduledAt,
      ...changing(record),
    },
  ]);
}

/**
 * Everything that may change but what belongs to a claim; the row must be locked. `isReleased`: whoever had it in hand
 * has it no more.
 */
export async function updateSmsBatch(
  workspaceId: string,
  record: SmsBatchRecord,
  { isReleased }: { isReleased: boolean },
): Promise<void> {
  await query(`UPDATE sms_batches ${byId} SET ? WHERE id = ? AND workspace_id = ?`, [
    { ...changing(record), ...(isReleased && { lease_token: null }) },
    idToBytes(record.id),
    idToBytes(workspaceId),
  ]);
}

function changing(record: SmsBatchRecord) {
  return {
    status: record.dueAt === null ? 'over' : 'queued',
    due_at: record.dueAt,
    lane: record.lane,
    parked: Number(record.parked),
    retries: record.retries,
    state: record.state,
    lineage_id: idToBytes(record.lineageId),
    list_index: record.listIndex,
    list_after: record.listAfter && idToBytes(record.listAfter),
    row_count: record.rowCount,
    next_position: record.nextPosition,
    expanding: Number(record.expanding),
    cancelled_up_to: record.cancelledUpTo && idToBytes(record.cancelledUpTo),
    paused_reason: record.pausedReason,
    paused_cost: record.pausedCost,
    paused_parts: record.pausedParts,
    event_seq: record.eventSeq,
    updated_at: record.updatedAt,
    started_at: record.startedAt,
    completed_at: record.completedAt,
  };
}

const one = `SELECT * FROM sms_batches ${byId} WHERE id = ? AND workspace_id = ?`;

export async function findSmsBatch(workspaceId: string, batchId: string): Promise<SmsBatchRecord | null> {
  const [row] = await execute(one, [idToBytes(batchId), idToBytes(workspaceId)]);
  return row ? toRecord(row) : null;
}

/** Nobody else changes or claims it until the transaction ends. */
export async function findSmsBatchForUpdate(
  workspaceId: string,
  batchId: string,
): Promise<SmsBatchRecord | null> {
  const [row] = await execute(`${one} FOR UPDATE`, [idToBytes(batchId), idToBytes(workspaceId)]);
  return row ? toRecord(row) : null;
}

/** How many batches of the workspace are not at their end. */
export async function findUnfinishedBatchCount(workspaceId: string): Promise<number> {
  const [row] = await execute(
    `SELECT COUNT(*) AS batches FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state IN ('scheduled', 'processing', 'paused')`,
    [idToBytes(workspaceId)],
  );
  return Number(row!.batches);
}

/** Paused batches of the workspace, oldest first. */
export async function listPausedBatches(workspaceId: string): Promise<SmsBatchRecord[]> {
  const rows = await execute(
    `SELECT * FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state = 'paused' ORDER BY id`,
    [idToBytes(workspaceId)],
  );
  return rows.map(toRecord);
}

/** Whether an older batch of the workspace waits until it can be paid. */
export async function findHasOlderUnpaidBatch(workspaceId: string, batchId: string): Promise<boolean> {
  const [row] = await execute(
    `SELECT 1 FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state = 'paused' AND id < ? AND paused_reason = 'insufficient_balance' LIMIT 1`,
    [idToBytes(workspaceId), idToBytes(batchId)],
  );
  return row !== undefined;
}

export type BatchFilter = {
  status?: SmsBatchStatus | undefined;
  clientReference?: string | undefined;
  clientTag?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
};

/** Newest first. */
export async function listSmsBatches(
  workspaceId: string,
  { status, clientReference, clientTag, since, until }: BatchFilter,
  page: Page,
): Promise<{ records: SmsBatchRecord[]; reached: string | null }> {
  const { rows, reached } = await listMatching(
    workspaceId,
    {
      table: 'sms_batches',
      index: 'sms_batches_listed',
      filters: [
        ['state', status, 'sms_batches_by_state'],
        ['client_reference', bytesOf(clientReference), 'sms_batches_by_reference'],
        ['client_tag', bytesOf(clientTag), 'sms_batches_by_tag'],
      ],
      since,
      until,
    },
    page,
  );
  return { records: rows.map(toRecord), reached: reached && idFromBytes('batch', reached) };
}

const text = (value: Buffer | null) => (value === null ? null : value.toString());

export function toRecord(row: Row): SmsBatchRecord {
  return {
    id: idFromBytes('batch', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    dueAt: row.due_at,
    lane: row.lane,
    parked: row.parked === 1,
    claims: row.claims,
    retries: row.retries,
    requestId: text(row.request_id),
    state: row.state,
    source: row.source,
    sender: text(row.sender),
    content: row.content,
    templateName: text(row.template_name),
    data: row.data === null ? {} : JSON.parse(row.data),
    unicode: row.unicode,
    shortenLinks: row.shorten_links === 1,
    clientReference: text(row.client_reference),
    clientTag: text(row.client_tag),
    lineageId: idFromBytes('key', row.lineage_id),
    lists: row.lists && JSON.parse(row.lists),
    listIndex: row.list_index,
    listAfter: row.list_after && idFromBytes('contact', row.list_after),
    rowCount: row.row_count,
    nextPosition: row.next_position,
    expanding: row.expanding === 1,
    cancelledUpTo: row.cancelled_up_to && idFromBytes('sms', row.cancelled_up_to),
    pausedReason: row.paused_reason,
    pausedCost: row.paused_cost === null ? null : Number(row.paused_cost),
    pausedParts: row.paused_parts,
    eventSeq: row.event_seq,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    scheduledAt: row.scheduled_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  };
}
