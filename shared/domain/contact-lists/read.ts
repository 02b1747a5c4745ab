import { now } from '../../common/clock.ts';
import { Problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import type { ListedPage, Page } from '../../db/client/listing.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import { listMemberIds } from '../../db/contact-lists/members.ts';
import { type ContactRecord, listContactsByIds } from '../../db/contacts/contacts.ts';
import { countContacts, listContacts } from '../../db/contacts/search.ts';
import type {
  ContactList,
  ContactListPreview,
  ContactListPreviewOutcome,
} from '../../schemas/contact-lists.ts';
import type { Contact } from '../../schemas/contacts.ts';
import type { PageQuery } from '../../schemas/fields.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as contactsDomain from '../contacts/contacts.ts';
import { compile } from '../contacts/filter.ts';
import { searching } from '../contacts/searches.ts';
import {
  type CursorPage,
  keysetPageById,
  mapPage,
  searchedPage,
  searchPage,
} from '../requests/keyset-pages.ts';
import { countNow, want } from './count.ts';
import { builtinOf, checkedFilter, contactsOf, findList, type List, toWire, toWireAll } from './record.ts';

/** Finds a list. A dynamic list is counted now where that takes a limited time. */
export async function find({ workspaceId }: Caller, id: string): Promise<ContactList> {
  const list = await findList(workspaceId, id);
  return toWire(workspaceId, isCountOld(list, 0) ? await recounted(workspaceId, list) : list);
}

async function recounted(workspaceId: string, list: List): Promise<List> {
  const counted = await countNow(workspaceId, list.filter!).catch(problemOnly);
  if (!counted?.countedAt) {
    await wantSoon(workspaceId, [list]);
    return list.countedAt || !counted ? list : { ...list, ...counted };
  }
  // If nothing has changed, there is no need to write at each read.
  if (counted.memberCount !== list.memberCount || isCountOld(list, staleMs))
    await db.updateCounted(workspaceId, list, counted).catch(note);
  return { ...list, ...counted };
}

/** A count is old when it has not been made again for this time. */
const staleMs = 60_000;

function isCountOld({ kind, countedAt, countedUntil }: List, oldMs: number): boolean {
  const time = now();
  if (kind !== 'dynamic' || (countedUntil && countedUntil > time)) return false;
  return !countedAt || time.getTime() - countedAt.getTime() >= oldMs;
}

/** Orders new counts of old lists. A failure must not fail the read: the age of the count shows it. */
async function wantSoon(workspaceId: string, lists: List[]): Promise<void> {
  const old = lists.filter((list) => isCountOld(list, staleMs) && !list.countWantedAt);
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await transaction(() => want(workspaceId, ids)).catch(note);
}

function note(error: unknown): void {
  logger.debug({ err: error }, 'the count of contact lists could not be ordered');
}

/** Ignores a Problem (the search was refused, or took too long): the count stays as it is. */
function problemOnly(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}

/** Newest first, so the built-in list, which was there before all others, comes last. */
export async function list({ workspaceId }: Caller, page: PageQuery): Promise<CursorPage<ContactList>> {
  const binding = { workspaceId, listing: 'contact-lists' };
  const found = keysetPageById(binding, page, async (range) => {
    const lists: List[] = await db.listContactLists(workspaceId, range);
    return lists.length < range.limit ? [...lists, await builtinOf(workspaceId)] : lists;
  });
  return mapPage(found, async (lists) => {
    await wantSoon(workspaceId, lists);
    return toWireAll(workspaceId, lists);
  });
}

const previewed = 10;

/** The contacts that a dynamic list with this filter would hold. */
export async function preview(
  { workspaceId }: Caller,
  request: ContactListPreview,
): Promise<ContactListPreviewOutcome> {
  const filter = compile(checkedFilter(request.filter));
  return searching(workspaceId, filter, async () => {
    const { records, reached } = await searchPage({ limit: previewed, before: null }, (page) =>
      listContacts(workspaceId, filter, page),
    );
    const { count, isEstimate } =
      reached === null
        ? { count: records.length, isEstimate: false }
        : await countContacts(workspaceId, filter);
    return {
      count: Math.max(count, records.length),
      estimated: isEstimate,
      contacts: await contactsDomain.toWireAll(workspaceId, records),
    };
  });
}

/** The contacts of a list, newest first. */
export async function contacts(
  { workspaceId }: Caller,
  id: string,
  page: PageQuery,
): Promise<CursorPage<Contact>> {
  const binding = { workspaceId, listing: 'contact-list-contacts', filter: { id } };
  return mapPage(
    searchedPage(binding, page, async (range) => listIn(workspaceId, await findList(workspaceId, id), range)),
    (records) => contactsDomain.toWireAll(workspaceId, records),
  );
}

async function listIn(workspaceId: string, list: List, page: Page): Promise<ListedPage<ContactRecord>> {
  const filter = contactsOf(list);
  if (filter) return searching(workspaceId, filter, () => listContacts(workspaceId, filter, page));
  const ids = await listMemberIds(workspaceId, list.id, page);
  const records = (await listContactsByIds(workspaceId, ids)).toReversed();
  return { records, reached: ids.length === page.limit ? ids.at(-1)! : null };
}
