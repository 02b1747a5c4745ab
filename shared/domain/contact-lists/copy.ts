import { now, nowForAll } from '../../clock.ts';
import { transaction } from '../../db/client.ts';
import { insertMembers, listMemberIdsAfter, listMembersAmong } from '../../db/contact-list-members.ts';
import { findContactList, updateMemberCount } from '../../db/contact-lists.ts';
import { type Filter, listContactIdsAfter } from '../../db/contact-search.ts';
import { listContactsByIds } from '../../db/contacts.ts';
import * as system from '../../db/system/contact-list-copies.ts';
import { aheadMs, firstUuidAt, idFromBytes, newUuid } from '../../formats/ids.ts';
import { count } from '../../metrics.ts';
import type { Outcome } from '../../work/outcome.ts';
import { compile } from '../contact-filter.ts';
import { contactsOf, findLists, type List } from './record.ts';

// Small enough that nobody waits for the rows of one.
const batchSize = 1_000;
/** Far more than a batch takes; a copy whose worker has died goes on after it. */
const leaseMs = 10_000;
/** Then another copy gets its turn, and a worker that is to stop need not wait for the end of this one. */
const turnMs = 2_000;
/** Contacts that were there may be dated ahead; and processes do not agree about the time to the millisecond. */
const slackMs = aheadMs + 500;

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
  const { ids, reached } = source ? await membersAfter(copy, source) : { ids: [], reached: null };
  const { known, added } = await insertMembers(workspaceId, listId, await chosen(copy, ids));
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

type Part = { ids: string[]; reached: string | null };

/** The next of a source's contacts, oldest first. Those made after the copy was asked for were no members then. */
async function membersAfter(copy: system.Copy, source: List): Promise<Part> {
  const { workspaceId, afterContactId, createdAt } = copy;
  const { ids, reached } = await partOf(workspaceId, source, afterContactId);
  const end = idFromBytes('contact', firstUuidAt(new Date(createdAt.getTime() + slackMs)));
  const isPast = reached !== null && reached >= end;
  return { ids: ids.filter((id) => id < end), reached: isPast ? null : reached };
}

async function partOf(workspaceId: string, source: List, afterId: string | null): Promise<Part> {
  const filter = contactsOf(source);
  if (filter) return listContactIdsAfter(workspaceId, filter, afterId, batchSize);
  const ids = await listMemberIdsAfter(workspaceId, source.id, afterId, batchSize);
  return { ids, reached: ids.length < batchSize ? null : ids.at(-1)! };
}

/** Those that match the copy's filter and are in none of the lists that are left out. */
async function chosen({ workspaceId, request }: system.Copy, ids: string[]): Promise<string[]> {
  const excluded = await findLists(workspaceId, request.excluded);
  if (excluded.some(({ kind }) => kind === 'builtin')) return [];
  const excludedFilters = excluded.map(contactsOf).filter((filter) => filter !== null);
  const matching = await matchingOf(workspaceId, ids, compile(request.filter), excludedFilters);
  const staticIds = excluded.filter(({ kind }) => kind === 'static').map(({ id }) => id);
  const members = await listMembersAmong(workspaceId, staticIds, matching);
  return matching.filter((id) => !members.has(id));
}

async function matchingOf(
  workspaceId: string,
  ids: string[],
  filter: Filter,
  excluded: Filter[],
): Promise<string[]> {
  if (filter.terms.length === 0 && excluded.length === 0) return ids;
  const contacts = await listContactsByIds(workspaceId, ids);
  return contacts
    .filter((contact) => filter.matches(contact) && !excluded.some(({ matches }) => matches(contact)))
    .map(({ id }) => id);
}
