import { timeSlices } from '../../common/time-slices.ts';
import { listMemberIdsAfter, listMembersAmong } from '../../db/contact-lists/members.ts';
import { listContactsByIds } from '../../db/contacts/contacts.ts';
import { findCount } from '../../db/contacts/entries.ts';
import { type ContactSearch, listContactIdsAfter } from '../../db/contacts/search.ts';
import { aheadMs, firstUuidAt, idFromBytes } from '../../formats/ids.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { compile } from '../contacts/filter.ts';
import { contactsOf, findLists, type List } from './record.ts';

/** Existing contacts may have a time that is ahead of the clock, and the clocks of processes differ a little. */
const slackMs = aheadMs + 500;

/** `reached`: where the next part begins; null: there is none. */
type MemberChunk = { ids: string[]; reached: string | null };

type NextMembers = {
  after: string | null;
  until: Date;
  limit: number;
  filter: ContactFilter;
  excluded: List[];
};

/**
 * Returns the next contacts of a list that match the filter and are in none of the excluded lists, oldest first.
 * Contacts that were made after `until`, or added to a static list after it, are left out. A list that is gone has no
 * members. `read`: how many contacts they were chosen from.
 */
export async function membersAfter(
  workspaceId: string,
  listId: string,
  { filter, excluded, ...range }: NextMembers,
): Promise<MemberChunk & { read: number }> {
  const [source] = await findLists(workspaceId, [listId]);
  if (!source) return { ids: [], read: 0, reached: null };
  const { ids, reached } = await allAfter(workspaceId, source, range);
  return { ids: await chosen(workspaceId, ids, { filter, excluded }), read: ids.length, reached };
}

async function allAfter(
  workspaceId: string,
  source: List,
  { after, until, limit }: Pick<NextMembers, 'after' | 'until' | 'limit'>,
): Promise<MemberChunk> {
  const latest = new Date(until.getTime() + slackMs);
  const { ids, reached } = await partOf(workspaceId, source, { afterId: after, addedBy: latest, limit });
  const end = idFromBytes('contact', firstUuidAt(latest));
  const isPast = reached !== null && reached >= end;
  return { ids: ids.filter((id) => id < end), reached: isPast ? null : reached };
}

/** Returns how many contacts these lists have, by their stored counts. A contact in several lists counts in each. */
export async function memberCount(workspaceId: string, listIds: string[]): Promise<number> {
  const lists = await findLists(workspaceId, listIds);
  let sum = 0;
  for (const { kind, memberCount } of lists)
    sum += kind === 'builtin' ? await findCount(workspaceId, '') : memberCount;
  return sum;
}

async function partOf(
  workspaceId: string,
  source: List,
  { afterId, addedBy, limit }: { afterId: string | null; addedBy: Date; limit: number },
): Promise<MemberChunk> {
  const filter = contactsOf(source);
  if (filter) return listContactIdsAfter(workspaceId, filter, afterId, limit);
  const ids = await listMemberIdsAfter(workspaceId, source.id, { afterId, addedBy, limit });
  return { ids, reached: ids.length < limit ? null : ids.at(-1)! };
}

/** Returns the contacts among these that match the filter and are in none of the excluded lists. */
export async function chosen(
  workspaceId: string,
  ids: string[],
  { filter, excluded }: { filter: ContactFilter; excluded: List[] },
): Promise<string[]> {
  if (excluded.some(({ kind }) => kind === 'builtin')) return [];
  const excludedFilters = excluded.map(contactsOf).filter((filter) => filter !== null);
  const matching = await matchingOf(workspaceId, ids, compile(filter), excludedFilters);
  const staticIds = excluded.filter(({ kind }) => kind === 'static').map(({ id }) => id);
  const members = await listMembersAmong(workspaceId, staticIds, matching);
  return matching.filter((id) => !members.has(id));
}

async function matchingOf(
  workspaceId: string,
  ids: string[],
  filter: ContactSearch,
  excluded: ContactSearch[],
): Promise<string[]> {
  if (filter.terms.length === 0 && excluded.length === 0) return ids;
  const contacts = await listContactsByIds(workspaceId, ids);
  const slices = timeSlices();
  const matching: string[] = [];
  for (const contact of contacts) {
    if (slices.isOver()) await slices.next();
    if (filter.matches(contact) && !excluded.some(({ matches }) => matches(contact)))
      matching.push(contact.id);
  }
  return matching;
}
