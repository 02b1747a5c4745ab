import { listMemberIds } from '../../db/contact-list-members.ts';
import * as db from '../../db/contact-lists.ts';
import { countContacts, listContacts } from '../../db/contact-search.ts';
import { type ContactRecord, listContactsByIds } from '../../db/contacts.ts';
import type {
  ContactList,
  ContactListPreview,
  ContactListPreviewOutcome,
  ContactListQuery,
} from '../../schemas/contact-lists.ts';
import type { Contact } from '../../schemas/contacts.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { compile } from '../contact-filter.ts';
import * as contactsDomain from '../contacts.ts';
import { decodeCursor, encodeCursor } from '../cursors.ts';
import { builtinOf, checkedFilter, contactsOf, findList, type List, toWire, toWireAll } from './record.ts';

type Page<Item> = { data: Item[]; nextCursor: string | null };

export async function find({ workspaceId }: Caller, id: string): Promise<ContactList> {
  return toWire(workspaceId, await findList(workspaceId, id));
}

/** Newest first, so the built-in list, which was there before all others, comes last. */
export async function list(
  { workspaceId }: Caller,
  { limit, cursor }: ContactListQuery,
): Promise<Page<ContactList>> {
  const binding = { workspaceId, listing: 'contact-lists' };
  const before = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const lists: List[] = await db.listContactLists(workspaceId, { limit: limit + 1, before });
  if (lists.length <= limit) lists.push(await builtinOf(workspaceId));
  const page = lists.slice(0, limit);
  return {
    data: await toWireAll(workspaceId, page),
    nextCursor: lists.length > limit ? encodeCursor(binding, { id: page.at(-1)!.id }) : null,
  };
}

const previewed = 10;

/** What a dynamic list with this filter would hold. */
export async function preview(
  { workspaceId }: Caller,
  request: ContactListPreview,
): Promise<ContactListPreviewOutcome> {
  const filter = compile(checkedFilter(request.filter));
  const records = await listContacts(workspaceId, filter, { limit: previewed, beforeId: null });
  return {
    count: records.length < previewed ? records.length : await countContacts(workspaceId, filter),
    contacts: await contactsDomain.toWireAll(workspaceId, records),
  };
}

/** What is in a list, newest contacts first. */
export async function contacts(
  { workspaceId }: Caller,
  id: string,
  { limit, cursor }: ContactListQuery,
): Promise<Page<Contact>> {
  const binding = { workspaceId, listing: 'contact-list-contacts', filter: { id } };
  const beforeId = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const records = await listIn(workspaceId, await findList(workspaceId, id), { limit: limit + 1, beforeId });
  const page = records.slice(0, limit);
  return {
    data: await contactsDomain.toWireAll(workspaceId, page),
    nextCursor: records.length > limit ? encodeCursor(binding, { id: page.at(-1)!.id }) : null,
  };
}

async function listIn(
  workspaceId: string,
  list: List,
  page: { limit: number; beforeId: string | null },
): Promise<ContactRecord[]> {
  const filter = contactsOf(list);
  if (filter) return listContacts(workspaceId, filter, page);
  const ids = await listMemberIds(workspaceId, list.id, page);
  return (await listContactsByIds(workspaceId, ids)).toReversed();
}
