import { fromNow, now, nowForAll } from '../../common/clock.ts';
import { transaction } from '../../db/client.ts';
import { findContactList, type ListCount, updateCounted } from '../../db/contact-lists/contact-lists.ts';
import * as system from '../../db/contact-lists/counts.system.ts';
import * as db from '../../db/contact-lists/counts.ts';
import { countContacts, listContactIdsAfter } from '../../db/contacts/search.ts';
import { claimDue } from '../../db/work/due.system.ts';
import * as jobs from '../../jobs/count-contacts.ts';
import { enqueue } from '../../queue/queue.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { dueKind } from '../../work/due.ts';
import type { WorkOutcome } from '../../work/outcome.ts';
import { turnMs } from '../../work/turns.ts';
import { compile } from '../contacts/filter.ts';
import { searching } from '../contacts/searches.ts';

/** Counts the contacts of dynamic lists, while a request waits or in a job. */

/**
 * Counts the contacts of a dynamic list with this filter while a request waits. Estimates the number if an exact count
 * would take too long.
 */
export async function countNow(workspaceId: string, filter: ContactFilter): Promise<ListCount> {
  const countedAt = now();
  const compiled = compile(filter);
  const { count, isEstimate } = await searching(workspaceId, compiled, () =>
    countContacts(workspaceId, compiled),
  );
  return { memberCount: count, countedAt: isEstimate ? null : countedAt, countedUntil: null };
}

/** A count stays valid for this many times the time that it took, so that counting takes a small part of the time. */
const believedTimes = 20;

function countedAs(memberCount: number, countedAt: Date, workedMs: number): ListCount {
  const countedUntil = fromNow(believedTimes * workedMs);
  return { memberCount, countedAt, countedUntil };
}

/** Orders a job that counts dynamic lists, one after the other. Call it in a transaction. */
export async function want(workspaceId: string, listIds: string[]): Promise<void> {
  if (listIds.length === 0) return;
  const claims = await db.updateCountsWanted(workspaceId, listIds, now());
  if (claims === null) return;
  enqueue(jobs.countContacts, { workspaceId }, { lane: 'default', id: `${workspaceId}-${claims + 1}` });
}

const contactsAtOnce = 1_000;
/** Far more than a step takes. After this time, another worker continues the count of a worker that has died. */
const leaseMs = 10_000;

export const counts = dueKind(
  'contact_list_count',
  system.countingTable,
  jobs.countContacts,
  (workspaceId) => ({
    workspaceId,
  }),
);

/** Continues to count the lists of a workspace, for one turn. */
export async function countOn(workspaceId: string): Promise<WorkOutcome> {
  const lease = await claimDue(system.countingTable, {
    id: workspaceId,
    at: nowForAll(),
    until: fromNow(leaseMs),
  });
  if (!lease) return 'dropped';
  const startedAt = performance.now();
  let progress = await system.findCounting(lease);
  do {
    const wanted = progress ? null : await db.findCountWanted(workspaceId);
    if (progress) progress = await goOn(workspaceId, progress);
    else if (wanted) progress = await begin(workspaceId, wanted);
    else break;
    if (!(await system.updateCounting(lease, fromNow(leaseMs), progress))) return 'dropped';
  } while (performance.now() < startedAt + turnMs);
  const dueAt = fromNow(performance.now() - startedAt);
  const isWanted = await transaction(() => system.updateCountingReleased(lease, dueAt));
  return isWanted ? { retryAt: dueAt } : 'done';
}

/** Begins to count a list. Returns how far the count has come; null: it is finished. */
async function begin(
  workspaceId: string,
  { listId, filter }: Pick<system.CountProgress, 'listId' | 'filter'>,
): Promise<system.CountProgress | null> {
  const beganAt = now();
  const startedAt = performance.now();
  const { count, isEstimate } = await countContacts(workspaceId, compile(filter));
  const workedMs = performance.now() - startedAt;
  if (isEstimate) return { listId, filter, afterContactId: null, counted: 0, beganAt, workedMs };
  await updateCounted(workspaceId, { id: listId, filter }, countedAs(count, beganAt, workedMs));
  return null;
}

async function goOn(
  workspaceId: string,
  progress: system.CountProgress,
): Promise<system.CountProgress | null> {
  const { listId, filter, beganAt } = progress;
  const startedAt = performance.now();
  const list = await findContactList(workspaceId, listId);
  // If the list is gone, or has another filter by now, the rest need not be counted.
  if (JSON.stringify(list?.filter) !== JSON.stringify(filter)) return null;
  const { ids, reached } = await listContactIdsAfter(
    workspaceId,
    compile(filter),
    progress.afterContactId,
    contactsAtOnce,
  );
  const counted = progress.counted + ids.length;
  const workedMs = progress.workedMs + performance.now() - startedAt;
  if (reached !== null) return { ...progress, afterContactId: reached, counted, workedMs };
  await updateCounted(workspaceId, { id: listId, filter }, countedAs(counted, beganAt, workedMs));
  return null;
}
