import { now } from '../../../common/clock.ts';
import { invalid, problem } from '../../../common/errors.ts';
import { checked } from '../../../common/faults.ts';
import { count } from '../../../common/metrics.ts';
import { requestId } from '../../../common/request-context.ts';
import * as db from '../../../db/sms/batches/batches.ts';
import * as counts from '../../../db/sms/batches/counts.ts';
import { insertBatchRows } from '../../../db/sms/batches/rows.ts';
import { findWorkspaceForUpdate } from '../../../db/workspace/workspaces.ts';
import { newId, timeOfId } from '../../../formats/ids.ts';
import { senderKeysOf } from '../../../formats/sms/sender-name.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import type { CreatedSmsBatch, NewSmsBatch } from '../../../schemas/sms/batches.ts';
import * as keyUsage from '../../api-keys/usage.ts';
import * as contactLists from '../../contact-lists/contact-lists.ts';
import { normalTag } from '../../email/rules.ts';
import { refuseOneMore } from '../../requests/refusals.ts';
import { listKeys, unknownSender } from '../../senders/senders.ts';
import * as waiting from '../../work/waiting.ts';
import { type CheckedBatch, dataOf } from './prepare.ts';
import { toWire } from './record.ts';
import type { RowError } from './rows.ts';
import { admit } from './work/admission.ts';

/** Stores new batches, for requests and for imports of files. */

const mostUnfinished = 1_000;
/** The most faults of rows that an answer shows. */
export const mostErrorsShown = 1_000;

type MadeBatch = Pick<
  db.SmsBatchRecord,
  'id' | 'source' | 'content' | 'lists' | 'senders' | 'rowCount' | 'storedBytes'
>;
type BatchSettings = Omit<NewSmsBatch, 'messages' | 'listIds' | 'excludeLists'>;

/** Stores the batch with its rows, none of which is a message yet, and wakes a worker once all of it is committed. */
export function create(
  caller: Caller,
  request: NewSmsBatch,
  checked: CheckedBatch,
): Promise<CreatedSmsBatch> {
  const { rows, errors, storedBytes: bytes } = checked;
  const made = { ...madeOf(checked), errors, errorCount: errors.length };
  const addRows = async ({ id, createdAt }: db.SmsBatchRecord) => {
    const once = !request.allowDuplicates;
    const added = await insertBatchRows(
      caller.workspaceId,
      { batchId: id, at: createdAt, once, bytes },
      rows,
    );
    if (added !== rows.length) throw new Error('Rows of a new batch were left out');
    return { messages: added, bytes };
  };
  return store(caller, request, made, addRows);
}

/** A new batch of checked rows or lists. */
export function madeOf({ content, lists, rows, storedBytes, senders }: CheckedBatch): MadeBatch {
  const source = lists ? 'lists' : 'messages';
  return { id: newId('batch', now()), source, content, lists, rowCount: rows.length, storedBytes, senders };
}

/**
 * Stores a batch. `addRows` runs in the same transaction, after the batch is stored, and returns how much waiting work
 * it has added.
 */
export async function store(
  caller: Caller,
  request: BatchSettings,
  { errors, errorCount, ...made }: MadeBatch & { errors: RowError[]; errorCount: number },
  addRows: (batch: db.SmsBatchRecord) => Promise<waiting.Waiting>,
): Promise<CreatedSmsBatch> {
  const { workspaceId } = caller;
  if (!(await keyUsage.findRoom(workspaceId, caller.lineageId, now()))) throw problem('unauthenticated');
  const batch = admit(newRecord(caller, request, made, now()));
  await db.insertSmsBatch(workspaceId, batch);
  const added = await addRows(batch);
  // The workspace is locked, so that two requests at once cannot both make the last batch that it may have. The lock
  // comes late, so that nobody waits for the rows.
  await findWorkspaceForUpdate(workspaceId);
  // The new batch is stored already, so it is one of those that are counted.
  const others = (await db.findUnfinishedBatchCount(workspaceId)) - 1;
  const advice = 'Wait until one is completed, or cancel one';
  refuseOneMore(others, mostUnfinished, 'unfinished batches', advice);
  // From here on the lists and senders stay as long as the batch needs them.
  if (batch.lists) await checkLeftOut(workspaceId, batch.lists.excludeLists);
  await checkSenders(batch);
  await waiting.checkAtCommit(workspaceId, added);
  count('batches_accepted', { source: batch.source });
  return {
    ...toWire(batch, { ...counts.noCounts, waiting: batch.rowCount }),
    errors: errors.slice(0, mostErrorsShown),
    errorCount,
  };
}

async function checkLeftOut(workspaceId: string, listIds: string[]): Promise<void> {
  await checked((refuse) => contactLists.checkKnown(workspaceId, 'excludeLists', listIds, refuse));
}

/** Refuses a batch with a sender that was deleted after the rows were checked. */
async function checkSenders({
  workspaceId,
  source,
  lists,
  sender,
  senders,
}: db.SmsBatchRecord): Promise<void> {
  const named = lists && sender !== null ? [sender] : (senders ?? []);
  if (named.length === 0) return;
  const known = new Set(await listKeys(workspaceId));
  const gone = named.find((name) => !senderKeysOf(name).some((key) => known.has(key)));
  if (gone !== undefined)
    throw invalid(source === 'file' ? 'file' : 'sender', `names ${gone}, which ${unknownSender}`);
}

/** The batch that a request makes, before any of its rows is a message. */
export function newRecord(
  { workspaceId, lineageId }: Caller,
  request: BatchSettings,
  made: MadeBatch,
  at: Date,
): db.SmsBatchRecord {
  // Listings go by the time of the id, which was made before the rows were checked, or stored.
  const madeAt = timeOfId(made.id);
  return {
    ...made,
    workspaceId,
    dueAt: request.scheduledAt ?? at,
    lane: 'expand',
    parked: false,
    claims: 0,
    retries: 0,
    requestId: requestId(),
    state: request.scheduledAt ? 'scheduled' : 'processing',
    sender: request.sender ?? null,
    templateName: request.template?.name ?? null,
    data: dataOf(request),
    unicode: request.unicode ?? 'allow',
    shortenLinks: request.shortenLinks === true,
    clientReference: request.clientReference ?? null,
    clientTag: request.clientTag == null ? null : normalTag(request.clientTag),
    lineageId,
    listIndex: 0,
    listAfter: null,
    nextPosition: 0,
    expanding: true,
    cancelledUpTo: null,
    pausedReason: null,
    pausedCost: null,
    pausedParts: null,
    eventSeq: 0,
    createdAt: madeAt < at ? madeAt : at,
    updatedAt: at,
    scheduledAt: request.scheduledAt ?? null,
    startedAt: null,
    completedAt: null,
  };
}
