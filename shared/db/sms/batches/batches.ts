import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { Unicode } from '../../../formats/sms/gsm-7.ts';
import type { BatchLane } from '../../../schemas/lanes.ts';
import type { PausedReason, SmsBatchStatus } from '../../../schemas/sms/batches.ts';
import { binaryText, boolean, id, int, json, number, text, time } from '../../client/columns.ts';
import { type ListedPage, listMatching, type Page } from '../../client/listing.ts';
import { findRow, insertRow, updateRow } from '../../client/rows.ts';
import { type RecordOf, table } from '../../client/table.ts';
import { bytesOf, execute } from '../../client.ts';
import { changeWaiting } from '../../work/waiting-counts.ts';

/** The batches of text messages of a workspace, without their rows. */

export const smsBatches = table('sms_batches', {
  id: id('batch'),
  workspaceId: id('workspace'),
  /** Null: nothing is left to do for this batch. */
  dueAt: time().nullable(),
  lane: text<BatchLane>(),
  /** Without a job in Redis. */
  parked: boolean(),
  claims: int(),
  /** Claims that were not lost. `claims` minus this shows a batch that kills worker after worker. */
  retries: int(),
  requestId: binaryText().nullable(),
  /** The state that the caller sees. */
  state: text<SmsBatchStatus>(),
  source: text<'messages' | 'lists' | 'file'>(),
  sender: binaryText().nullable(),
  /** The Liquid source at the time of acceptance, also where it came from a template. */
  content: text().nullable(),
  templateName: binaryText().nullable(),
  data: json<Record<string, unknown>>().nullableAs(() => ({})),
  unicode: text<Unicode>(),
  shortenLinks: boolean(),
  clientReference: binaryText().nullable(),
  clientTag: binaryText().nullable(),
  /** The key whose limits its messages count against. */
  lineageId: id('key'),
  lists: json<BatchLists>().nullable(),
  /** Keys of the senders that its rows name, or that the batch names for them. */
  senders: json<string[]>().nullable(),
  /** The list that is being copied, and the last contact copied from it (`listAfter`). */
  listIndex: int(),
  listAfter: id('contact').nullable(),
  /** The number of rows, deleted ones too; also the position of the next row. */
  rowCount: int(),
  /** Bytes of the content, the data and the rows; they count as waiting until nothing is left to do. */
  storedBytes: number(),
  /** The first row that is no message yet. */
  nextPosition: int(),
  expanding: boolean(),
  /** The last message whose cancelling was tried, where the batch is cancelled. */
  cancelledUpTo: id('sms').nullable(),
  pausedReason: text<PausedReason>().nullable(),
  /**
   * The cost and parts of the first message that could not be paid, or did not fit the limit. The cost of one that
   * could not be paid stays until messages of the batch are paid.
   */
  pausedCost: number().nullable(),
  pausedParts: int().nullable(),
  eventSeq: int(),
  createdAt: time(),
  updatedAt: time(),
  scheduledAt: time().nullable(),
  startedAt: time().nullable(),
  completedAt: time().nullable(),
});
/** All fields but the source of its messages, which may have a megabyte. */
export const shown = smsBatches.omit('content', 'data', 'lists', 'senders');
/** All fields that may change, without the ones that belong to a claim. */
const changing = smsBatches.omit(
  'id',
  'workspaceId',
  'claims',
  'requestId',
  'source',
  'sender',
  'content',
  'templateName',
  'data',
  'unicode',
  'shortenLinks',
  'clientReference',
  'clientTag',
  'lists',
  'senders',
  'storedBytes',
  'createdAt',
  'scheduledAt',
);
const statusOf = ({ dueAt }: SmsBatchRecord) => ({ status: dueAt === null ? 'over' : 'queued' });
export type SmsBatchRecord = RecordOf<typeof smsBatches>;
export type ShownSmsBatch = RecordOf<typeof shown>;

export type BatchLists = { listIds: string[]; excludeLists: string[] };

export function insertSmsBatch(workspaceId: string, record: SmsBatchRecord): Promise<void> {
  return insertRow(workspaceId, smsBatches, record, statusOf(record));
}

/**
 * Writes the fields that may change; the row must be locked. `isReleased`: the worker with the lease loses it. A batch
 * that is over must not be written again: its bytes stop counting as waiting here, and its content and data are
 * cleared.
 */
export async function updateSmsBatch(
  workspaceId: string,
  record: SmsBatchRecord,
  { isReleased }: { isReleased: boolean },
): Promise<void> {
  const isOver = record.dueAt === null;
  await updateRow(workspaceId, changing, record, {
    ...statusOf(record),
    ...(isReleased && { lease_token: null }),
    ...(isOver && { content: null, data: null }),
  });
  if (isOver && record.storedBytes > 0) await changeWaiting(workspaceId, { bytes: -record.storedBytes });
}

export function findSmsBatch(workspaceId: string, batchId: string): Promise<ShownSmsBatch | null> {
  return findRow(workspaceId, shown, { id: batchId });
}

/** Returns the batch, locked until the transaction ends: nobody else changes or claims it. */
export function findSmsBatchForUpdate(workspaceId: string, batchId: string): Promise<SmsBatchRecord | null> {
  return findRow(workspaceId, smsBatches, { id: batchId }, 'FOR UPDATE');
}

/** Counts the unfinished batches of the workspace. */
export async function findUnfinishedBatchCount(workspaceId: string): Promise<number> {
  const [row] = await execute<{ batches: number }[]>(
    `SELECT COUNT(*) AS batches FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state IN ('scheduled', 'processing', 'paused')`,
    [idToBytes(workspaceId)],
  );
  return row!.batches;
}

/** Lists the ids of the paused batches of the workspace, oldest first. */
export async function listPausedBatchIds(workspaceId: string): Promise<string[]> {
  const rows = await execute<{ id: Buffer }[]>(
    `SELECT id FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state = 'paused' ORDER BY id`,
    [idToBytes(workspaceId)],
  );
  return rows.map((row) => idFromBytes('batch', row.id));
}

/** Tells whether an older batch of the workspace is paused for lack of balance, or has resumed and is still unpaid. */
export async function findHasOlderUnpaidBatch(workspaceId: string, batchId: string): Promise<boolean> {
  const [row] = await execute(
    `SELECT 1 FROM sms_batches FORCE INDEX (sms_batches_by_state)
     WHERE workspace_id = ? AND state IN ('paused', 'processing') AND id < ?
       AND IF(state = 'paused', paused_reason = 'insufficient_balance', expanding = 1 AND paused_cost IS NOT NULL)
     LIMIT 1`,
    [idToBytes(workspaceId), idToBytes(batchId)],
  );
  return row !== undefined;
}

type BatchFilter = {
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
): Promise<ListedPage<ShownSmsBatch>> {
  return listMatching(
    workspaceId,
    {
      table: shown,
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
}
