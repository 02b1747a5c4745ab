import { now, nowForAll } from '../../clock.ts';
import { transaction } from '../../db/client.ts';
import { insertMembers } from '../../db/contact-list-members.ts';
import { findContactList, updateMemberCount } from '../../db/contact-lists.ts';
import * as system from '../../db/system/contact-list-copies.ts';
import { newUuid } from '../../formats/ids.ts';
import { count } from '../../metrics.ts';
import type { Outcome } from '../../work/outcome.ts';
import { chosen, membersAfter } from './members.ts';
import { findLists } from './record.ts';

// Small enough that nobody waits for the rows of one.
const batchSize = 1_000;
/** Far more than a batch takes; a copy whose worker has died goes on after it. */
const leaseMs = 10_000;
/** Then another copy gets its turn, and a worker that is to stop need not wait for the end of this one. */
const turnMs = 2_000;

/** Goes on with a copy for a while. A batch stands or falls with the place that the copy has come to. */
export async function copyOn(copyId: string): Promise<Outcome> {
  const token = newUuid(now());
  if (!(await system.claimCopy({ copyId, token, at: nowForAll(), until: leaseEnd() }))) return 'dropped';
  const turnEnd = performance.now() + turnMs;
  while (performance.now() < turnEnd) {
    const isOver = await transaction(() => copyBatch(copyId, token));
    if (isOver) return 'done';
  }
  await system.updateReleased(copyId, token, now());
  return { retryAt: now() };
}

function leaseEnd(): Date {
  return new Date(now().getTime() + leaseMs);
}

/** True when there is nothing left to do, or it is no longer ours to do. */
async function copyBatch(copyId: string, token: Buffer): Promise<boolean> {
  const copy = await system.findClaimedForUpdate(copyId, token);
  if (!copy) return true;
  const { workspaceId, listId, request } = copy;
  const sourceId = request.sources[copy.sourceIndex];
  if (sourceId === undefined || !(await findContactList(workspaceId, listId))) return finish(copyId);
  // A source that is gone by now has no members.
  const [source] = await findLists(workspaceId, [sourceId]);
  const { ids, reached } = source
    ? await membersAfter(workspaceId, source, {
        after: copy.afterContactId,
        until: copy.createdAt,
        limit: batchSize,
      })
    : { ids: [], reached: null };
  const { known, added } = await insertMembers(workspaceId, listId, await chosen(workspaceId, ids, request));
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
  return progress.sourceIndex < request.sources.length ? false : finish(copyId);
}

async function finish(copyId: string): Promise<boolean> {
  await system.updateFinished(copyId, now());
  return true;
}
