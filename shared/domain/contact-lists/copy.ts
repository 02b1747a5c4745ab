import { now, nowForAll } from '../../common/clock.ts';
import { count } from '../../common/metrics.ts';
import { transaction } from '../../db/client.ts';
import { findContactList, updateMemberCount } from '../../db/contact-lists/contact-lists.ts';
import * as system from '../../db/contact-lists/copies.system.ts';
import { insertMembers } from '../../db/contact-lists/members.ts';
import { claimDue, updateReleased } from '../../db/work/due.system.ts';
import type { Lease } from '../../db/work/table.system.ts';
import type { WorkOutcome } from '../../work/outcome.ts';
import { oneLaneTurns, turnMs } from '../../work/turns.ts';
import { jobsPerWorkspace, refill, wake } from './copy-admission.ts';
import { chosen, membersAfter } from './members.ts';
import { findLists } from './record.ts';

// Small enough that nobody waits for the rows of one.
const batchSize = 1_000;
/** Each contact is compared with each list that is left out; so many take some tens of milliseconds. */
const comparisonsPerBatch = 50_000;
/** Far more than a batch takes; a copy whose worker has died goes on after it. */
const leaseMs = 10_000;

/** Of a process. */
const slots = 2;

const takeTurn = oneLaneTurns({ slots, window: jobsPerWorkspace, refill });

/** A copy's turn; when it has ended, the workspace's next copy finds room. */
export async function workOn(job: {
  copyId: string;
  workspaceId?: string | undefined;
}): Promise<WorkOutcome> {
  return takeTurn({ ownerId: job.workspaceId, id: job.copyId }, () => copyOn(job.copyId));
}

/** Goes on with a copy for a while. A batch stands or falls with the place that the copy has come to. */
export async function copyOn(copyId: string, longestMs = turnMs): Promise<WorkOutcome> {
  const lease = await claimDue(system.copyTable, { id: copyId, at: nowForAll(), until: leaseEnd() });
  if (!lease) return 'dropped';
  const turnEnd = performance.now() + longestMs;
  for (;;) {
    const copy = await transaction(() => copyBatch(lease));
    if (!copy) return 'done';
    if (performance.now() < turnEnd) continue;
    // Another worker may go on with it at once; it goes behind all that waits already.
    await updateReleased(system.copyTable, lease, now());
    wake(copy.workspaceId, copy);
    return 'done';
  }
}

function leaseEnd(): Date {
  return new Date(now().getTime() + leaseMs);
}

/** Null when there is nothing left to do, or it is no longer ours to do. */
async function copyBatch(lease: Lease): Promise<system.Copy | null> {
  const copy = await system.findClaimedForUpdate(lease);
  if (!copy) return null;
  const { id: copyId, workspaceId, listId, request } = copy;
  const sourceId = request.sources[copy.sourceIndex];
  if (sourceId === undefined || !(await findContactList(workspaceId, listId))) return finish(copyId);
  // A source that is gone by now has no members.
  const [source] = await findLists(workspaceId, [sourceId]);
  const { ids, reached } = source
    ? await membersAfter(workspaceId, source, {
        after: copy.afterContactId,
        until: copy.createdAt,
        limit: sizeOfBatch(request.excluded.length),
      })
    : { ids: [], reached: null };
  const wanted = await chosen(workspaceId, ids, request);
  const { known, added } = await insertMembers(workspaceId, listId, wanted, now());
  if (added > 0 && !(await updateMemberCount(workspaceId, listId, added)))
    throw new Error('The list was deleted during a batch of a copy into it');
  count('contacts_copied', {}, added);
  const progress = {
    sourceIndex: reached === null ? copy.sourceIndex + 1 : copy.sourceIndex,
    afterContactId: reached,
    added: copy.added + added,
    skipped: copy.skipped + known - added,
  };
  await system.updateProgress(copyId, progress, leaseEnd());
  return progress.sourceIndex < request.sources.length ? copy : finish(copyId);
}

function sizeOfBatch(excludedLists: number): number {
  return Math.min(batchSize, Math.ceil(comparisonsPerBatch / Math.max(1, excludedLists)));
}

async function finish(copyId: string): Promise<null> {
  await system.updateFinished(copyId, now());
  return null;
}
