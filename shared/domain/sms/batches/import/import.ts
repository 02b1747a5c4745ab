import { now } from '../../../../common/clock.ts';
import { problem } from '../../../../common/errors.ts';
import { checked, faultsIn, type Refuse, type Usable } from '../../../../common/faults.ts';
import { logger } from '../../../../common/logger.ts';
import { transaction } from '../../../../db/client.ts';
import { deleteRowsOf } from '../../../../db/sms/batches/batches.system.ts';
import { changeBatchCounts } from '../../../../db/sms/batches/counts.ts';
import * as system from '../../../../db/sms/batches/imports.system.ts';
import * as db from '../../../../db/sms/batches/imports.ts';
import { insertBatchRows } from '../../../../db/sms/batches/rows.ts';
import { changeWaiting } from '../../../../db/work/waiting-counts.ts';
import { findWorkspaceForUpdate } from '../../../../db/workspace/workspaces.ts';
import { newId } from '../../../../formats/ids.ts';
import type { Caller } from '../../../../schemas/scopes.ts';
import type { CreatedSmsBatch, NewSmsImport } from '../../../../schemas/sms/batches.ts';
import { checkSchedule } from '../../../email/rules.ts';
import * as waiting from '../../../work/waiting.ts';
import { refuseBlocked } from '../../../workspace/workspaces.ts';
import { store } from '../create.ts';
import { checkContent, contentOf, dataOf } from '../prepare.ts';
import { sizeOfRow, sizeOfShared } from '../rows.ts';
import { type ReadRows, readRows } from './read-rows.ts';

/** Makes a batch from the rows of an uploaded file. */

type PreparedImport = ReadRows & { batchId: string; content: string | null; storedBytes: number };

const mostAtOnce = 2;
// A process takes less time than this from one chunk to the next, and from the last chunk to the batch.
const leftAfterMs = 10 * 60_000;
// Shorter than `leftAfterMs`: after the death of a process, the customer must be able to try again soon.
const holdsPlaceMs = 60_000;
const importsAtOnce = 20;
const rowsAtOnce = 2_000;

/**
 * Stores the rows of a file, some in each transaction, under the id of a batch that is not stored yet. Nobody sees the
 * rows before `importFile` commits the batch. If the import fails, its rows are deleted.
 */
export async function prepareImport(
  caller: Caller,
  request: NewSmsImport,
  upload: () => AsyncIterable<Uint8Array>,
): Promise<PreparedImport> {
  const { workspaceId } = caller;
  const at = now();
  await refuseBlocked(workspaceId);
  const content = await checked((refuse) => check(workspaceId, request, at, refuse));
  await waiting.check(workspaceId, { messages: 0, bytes: sizeOfShared({ content, data: dataOf(request) }) });
  const batchId = newId('batch', at);
  await begin(workspaceId, batchId, at);
  let storedBytes = 0;
  try {
    const read = await readRows(upload(), request, {
      workspaceId,
      content,
      at,
      store: async (rows) => {
        const bytes = rows.reduce((sum, row) => sum + sizeOfRow(row), 0);
        await waiting.check(workspaceId, { messages: rows.length, bytes });
        await transaction(async () => {
          const changes = { touchedAt: now(), addedBytes: bytes };
          await keep(await db.updateSmsImport(workspaceId, batchId, changes));
          const once = !request.allowDuplicates;
          const added = await insertBatchRows(workspaceId, { batchId, at, once, bytes }, rows);
          if (added !== rows.length) throw new Error('Rows of an import were left out');
          await waiting.checkAtCommit(workspaceId, { messages: added, bytes });
        });
        storedBytes += bytes;
      },
    });
    return { ...read, batchId, content, storedBytes };
  } catch (error) {
    await giveUp({ workspaceId, batchId });
    throw error;
  }
}

/** Stores the batch of these rows; everybody sees it from the commit on. */
export async function importFile(
  caller: Caller,
  request: NewSmsImport,
  { batchId, content, rowCount, senders, storedBytes, errors, errorCount }: PreparedImport,
): Promise<CreatedSmsBatch> {
  const { workspaceId } = caller;
  const bytes = sizeOfShared({ content, data: dataOf(request) });
  const made = {
    id: batchId,
    source: 'file',
    content,
    lists: null,
    senders,
    rowCount,
    storedBytes: storedBytes + bytes,
  } as const;
  return store(caller, request, { ...made, errors, errorCount }, async () => {
    await keep(await db.deleteSmsImport(workspaceId, batchId));
    await changeWaiting(workspaceId, { bytes });
    // The rows were counted, and found to fit, when they were stored.
    return { messages: 0, bytes };
  });
}

/** Deletes the rows of an import that is refused in the end, and frees its place among the imports of its workspace. */
export function abandonImport(caller: Caller, { batchId }: PreparedImport): Promise<void> {
  return giveUp({ workspaceId: caller.workspaceId, batchId });
}

async function keep(isStillOurs: boolean): Promise<void> {
  if (!isStillOurs)
    throw problem('service_unavailable', { detail: 'The import took too long. Send the file again' });
}

/** The faults for which an import would be refused before its file is read, as far as the settings can be used. */
export const faultsOfImport = ({ workspaceId }: Caller, request: Usable<NewSmsImport>) =>
  faultsIn((refuse) => check(workspaceId, request, now(), refuse));

function check(workspaceId: string, request: Usable<NewSmsImport>, at: Date, refuse: Refuse) {
  checkContent(request, refuse);
  checkSchedule(request.scheduledAt ?? null, at, refuse);
  return contentOf(workspaceId, request, at, refuse);
}

async function begin(workspaceId: string, batchId: string, at: Date): Promise<void> {
  await transaction(async () => {
    // Lock the workspace, so that of three imports at once only two begin.
    await findWorkspaceForUpdate(workspaceId);
    const touchedSince = new Date(at.getTime() - holdsPlaceMs);
    if ((await db.findSmsImportCount(workspaceId, touchedSince)) >= mostAtOnce)
      throw problem('limit_exceeded', {
        detail: `A workspace may import at most ${mostAtOnce} files at the same time. Wait until one import has ended`,
      });
    await db.insertSmsImport(workspaceId, batchId, at);
  });
}

async function giveUp(left: system.LeftImport): Promise<void> {
  try {
    if (await db.updateSmsImportLeft(left.workspaceId, left.batchId)) await deleteLeft(left);
  } catch (error) {
    logger.warn(
      { err: error, batchId: left.batchId },
      'the rows of a failed import could not be deleted; they are deleted later',
    );
  }
}

/** Deletes the rows of imports whose process died before it could delete them. */
export async function deleteLeftImports(): Promise<void> {
  const untouchedSince = new Date(now().getTime() - leftAfterMs);
  for (const left of await system.listLeftImports(untouchedSince, importsAtOnce)) await deleteLeft(left);
}

/** Deletes an import and its rows. The import must be marked as left: then nobody can make a batch of it any more. */
async function deleteLeft(left: system.LeftImport): Promise<void> {
  const { workspaceId, batchId } = left;
  for (;;) {
    const gone = await transaction(async () => {
      const rows = await deleteRowsOf(batchId, rowsAtOnce);
      if (rows > 0) {
        await changeWaiting(workspaceId, { messages: -rows });
        await changeBatchCounts(workspaceId, batchId, now(), { waiting: -rows });
      }
      return rows;
    });
    if (gone < rowsAtOnce) break;
  }
  await transaction(() => system.deleteLeftImport(left));
}
