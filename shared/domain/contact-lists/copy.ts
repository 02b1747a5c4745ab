import { fromNow, now, nowForAll } from '../../common/clock.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { transaction } from '../../db/client.ts';
import { findContactList, updateMemberCount } from '../../db/contact-lists/contact-lists.ts';
import * as system from '../../db/contact-lists/copies.system.ts';
import { insertMembers } from '../../db/contact-lists/members.ts';
import { claimDue, updateReleased } from '../../db/work/due.system.ts';
import type { Lease } from '../../db/work/table.system.ts';
import type { WorkOutcome } from '../../work/outcome.ts';
import { againIn, againMs, turnMs } from '../../work/turns.ts';
import { turns, wake } from './copy-admission.ts';
import { membersAfter } from './members.ts';
import { findLists } from './record.ts';

// Small enough that no other transaction waits long for the locked rows of a batch.
const batchSize = 1_000;
/** Each contact is compared with each excluded list; this many comparisons take some tens of milliseconds. */
const comparisonsPerBatch = 50_000;
/** Far longer than a batch takes. After this time, another worker continues the copy of a worker that died. */
const leaseMs = 10_000;

/** The copies that one process works on at a time. */
const slots = 2;

const takeTurn = turns(() => slots);

/** Runs a copy's turn. When it has ended, there is room for the workspace's next copy. */
export async function workOn(job: {
  copyId: string;
  workspaceId?: string | undefined;
}): Promise<WorkOutcome> {
  const turn = { lane: 'default', ownerId: job.workspaceId, id: job.copyId } as const;
  return (await takeTurn(turn, () => copyOn(job.copyId))) ?? againIn(againMs);
}

/** Continues a copy for a while. Each batch commits together with the position that the copy has reached. */
export async function copyOn(copyId: string, longestMs = turnMs): Promise<WorkOutcome> {
  const lease = await claimDue(system.copyTable, { id: copyId, at: nowForAll(), until: fromNow(leaseMs) });
  if (!lease) return 'dropped';
  const turnEnd = performance.now() + longestMs;
  for (;;) {
    const copy = await transaction(() => copyBatch(lease));
    if (!copy) return 'done';
    if (performance.now() < turnEnd) continue;
    // Another worker may continue the copy at once; its new job goes behind all jobs that wait already.
    await updateReleased(system.copyTable, lease, now());
    wake(copy);
    return 'done';
  }
}

/** Copies one batch. Null when nothing is left to do, or the lease is lost. */
async function copyBatch(lease: Lease): Promise<system.Copy | null> {
  const copy = await system.findClaimedForUpdate(lease);
  if (!copy) return null;
  const { id: copyId, workspaceId, listId, request } = copy;
  const sourceId = request.sources[copy.sourceIndex];
  if (sourceId === undefined || !(await findContactList(workspaceId, listId))) return finish(copyId);
  const excluded = await findLists(workspaceId, request.excluded);
  // Deleting a list that a copy excludes is refused until the copy ends. If the list is gone all the same, the copy
  // must end: it would add the contacts that the list kept out.
  if (excluded.length < request.excluded.length) {
    logger.error(
      { workspaceId, listId, copyId },
      'a copy into a contact list was stopped, because a list that it excludes was deleted',
    );
    return finish(copyId);
  }
  const { ids, reached } = await membersAfter(workspaceId, sourceId, {
    after: copy.afterContactId,
    until: copy.createdAt,
    limit: sizeOfBatch(excluded.length),
    filter: request.filter,
    excluded,
  });
  const { known, added } = await insertMembers(workspaceId, listId, ids, now());
  if (added > 0 && !(await updateMemberCount(workspaceId, listId, added)))
    throw new Error('The list was deleted during a batch of a copy into it');
  count('contacts_copied', {}, added);
  const progress = {
    sourceIndex: reached === null ? copy.sourceIndex + 1 : copy.sourceIndex,
    afterContactId: reached,
    added: copy.added + added,
    skipped: copy.skipped + known - added,
  };
  await system.updateProgress(copyId, progress, fromNow(leaseMs));
  return progress.sourceIndex < request.sources.length ? copy : finish(copyId);
}

function sizeOfBatch(excludedLists: number): number {
  return Math.min(batchSize, Math.ceil(comparisonsPerBatch / Math.max(1, excludedLists)));
}

async function finish(copyId: string): Promise<null> {
  await system.updateFinished(copyId, now());
  return null;
}
