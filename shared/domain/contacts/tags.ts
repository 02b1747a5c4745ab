import { now } from '../../common/clock.ts';
import { invalid } from '../../common/errors.ts';
import { checked, faultsIn, isPartlyUnusable, type Refuse, type Usable } from '../../common/faults.ts';
import { portionsOf } from '../../common/portions.ts';
import { timeSlices } from '../../common/time-slices.ts';
import * as db from '../../db/contacts/contacts.ts';
import { listTagCounts, type TagCounts, updateContactCounts } from '../../db/contacts/entries.ts';
import { foldCase } from '../../formats/folded-text.ts';
import { isId } from '../../formats/ids.ts';
import { type ContactTag, type ContactTagChanges, longestTag, mostTags } from '../../schemas/contacts.ts';
import type { PageQuery } from '../../schemas/fields.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { type CursorPage, keysetPage, mapPage } from '../requests/keyset-pages.ts';

/** The rules for tags, and changes of tags on many contacts at once. */

/** Returns the valid tags, trimmed: none blank or too long, each once whatever its case, in its first spelling. */
export function cleaned(tags: string[]): string[] {
  return unite([], tags.map((tag) => tag.trim()).filter(isTag));
}

function isTag(tag: string): boolean {
  return tag !== '' && (tag.length <= longestTag || [...tag].length <= longestTag);
}

/** Returns the valid tags of a request, sorted. Refuses more tags than a contact may have. */
export function checkTags(
  tags: readonly (string | undefined)[] | null | undefined,
  refuse: Refuse,
): string[] {
  const kept = cleaned((tags ?? []).filter((tag) => tag !== undefined));
  if (kept.length > mostTags) refuse('tags', `must have at most ${mostTags} tags`);
  return kept.toSorted();
}

function unite(tags: string[], more: string[]): string[] {
  const known = new Map(tags.map((tag) => [foldCase(tag), tag]));
  for (const tag of more) if (!known.has(foldCase(tag))) known.set(foldCase(tag), tag);
  return [...known.values()];
}

/** Removes, then adds, so that a tag can be given another spelling. Returns how many contacts the ids name. */
export async function change(caller: Caller, changes: ContactTagChanges): Promise<{ updated: number }> {
  const { added, removed } = await checked((refuse) => check(changes, refuse));
  const retag = (tags: string[]) =>
    unite(
      tags.filter((tag) => !removed.has(foldCase(tag))),
      added,
    ).toSorted();
  const ids = [...new Set(changes.contactIds)].filter((id) => isId('contact', id)).toSorted();
  const counts: TagCounts = new Map();
  let updated = 0;
  for (const some of portionsOf(ids, contactsAtOnce))
    updated += await retagSome(caller.workspaceId, some, retag, counts);
  await updateContactCounts(caller.workspaceId, counts);
  return { updated };
}

/** Returns the faults for which `change` would refuse a request, as far as its fields can be used. */
export const faultsOfChange = (changes: Usable<ContactTagChanges>) =>
  faultsIn((refuse) => check(changes, refuse));

/** Returns the tags to add, and the tags to remove with their case folded. */
function check(changes: Usable<ContactTagChanges>, refuse: Refuse) {
  const added = checkTags(changes.tags, refuse);
  const removed = new Set(
    cleaned((changes.removeTags ?? []).filter((tag) => tag !== undefined)).map(foldCase),
  );
  const isKnown = () => !isPartlyUnusable(changes, 'tags') && !isPartlyUnusable(changes, 'removeTags');
  if (added.length + removed.size === 0 && isKnown()) {
    refuse('tags', 'must have a tag to add, or removeTags must have a tag to remove');
    refuse('removeTags', 'must have a tag to remove, or tags must have a tag to add');
  }
  return { added, removed };
}

const contactsAtOnce = 1_000;
/** The most tags, old and new, that one statement changes: a contact may have a hundred tags. */
const tagsAtOnce = 4_000;

async function retagSome(
  workspaceId: string,
  ids: string[],
  retag: (tags: string[]) => string[],
  counts: TagCounts,
): Promise<number> {
  const updatedAt = now();
  const contacts = await db.listContactsByIds(workspaceId, ids, 'FOR UPDATE');
  const slices = timeSlices();
  let changed: db.ContactChange[] = [];
  let tagCount = 0;
  for (const before of contacts) {
    if (slices.isOver()) await slices.next();
    const tags = retag(before.tags);
    if (tags.length > mostTags)
      throw invalid('tags', `would give the contact ${before.id} more than ${mostTags} tags`);
    if (areEqual(before.tags, tags)) continue;
    changed.push({ before, after: { ...before, tags, updatedAt } });
    tagCount += before.tags.length + tags.length;
    if (tagCount < tagsAtOnce) continue;
    await db.updateContacts(workspaceId, changed, counts);
    [changed, tagCount] = [[], 0];
  }
  await db.updateContacts(workspaceId, changed, counts);
  return contacts.length;
}

export function areEqual(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((tag, index) => tag === other[index]);
}

/** Lists the tags in alphabetical order, whatever their case. */
export async function list({ workspaceId }: Caller, page: PageQuery): Promise<CursorPage<ContactTag>> {
  const binding = { workspaceId, listing: 'contact-tags' };
  return mapPage(
    keysetPage(
      binding,
      page,
      (limit, last: { after: string } | null) =>
        listTagCounts(workspaceId, { limit, after: last?.after ?? null }),
      ({ key }) => ({ after: key }),
    ),
    (found) => found.map(({ tag, count }) => ({ tag, count })),
  );
}
