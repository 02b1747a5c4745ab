import { orNotFound, type Problem, problem } from '../../common/errors.ts';
import { Faults, type Refuse, type Usable } from '../../common/faults.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import { listCopiedInto } from '../../db/contact-lists/copies.ts';
import { findCount } from '../../db/contacts/entries.ts';
import type { ContactSearch } from '../../db/contacts/search.ts';
import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { ContactList, type ContactListKind } from '../../schemas/contact-lists.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import { compile } from '../contacts/filter.ts';
import { wireOf } from '../requests/wire.ts';
import { findRecent } from '../workspace/workspaces.ts';

/** The rules that all operations on contact lists share. */

/** A list of any kind; the built-in list is not stored as a record. */
export type List = Omit<db.ContactListRecord, 'kind'> & { kind: ContactListKind };

/** Returns the id of the built-in list: the workspace's own UUID, which is lower than those of its other lists. */
export function builtinId(workspaceId: string): string {
  return idFromBytes('list', idToBytes(workspaceId));
}

export async function builtinOf(workspaceId: string): Promise<List> {
  const workspace = orNotFound(await findRecent(workspaceId));
  return {
    id: builtinId(workspaceId),
    name: 'All contacts',
    description: null,
    kind: 'builtin',
    filter: null,
    memberCount: 0,
    countedAt: null,
    countedUntil: null,
    countWantedAt: null,
    createdAt: workspace.createdAt,
    updatedAt: workspace.createdAt,
  };
}

export async function findList(workspaceId: string, id: string): Promise<List> {
  const list =
    id === builtinId(workspaceId) ? await builtinOf(workspaceId) : await db.findContactList(workspaceId, id);
  if (!list) throw problem('not_found');
  return list;
}

/** Returns the lists among these that exist, in the order of the ids. */
export async function findLists(workspaceId: string, ids: string[]): Promise<List[]> {
  const lists = new Map<string, List>();
  for (const list of await db.listContactListsByIds(workspaceId, ids)) lists.set(list.id, list);
  const builtin = builtinId(workspaceId);
  if (ids.includes(builtin)) lists.set(builtin, await builtinOf(workspaceId));
  return ids.flatMap((id) => lists.get(id) ?? []);
}

/** Returns how many contacts a list has; for a dynamic list, the last count. */
export async function sizeOf(workspaceId: string, { kind, memberCount }: List): Promise<number> {
  return kind === 'builtin' ? findCount(workspaceId, '') : memberCount;
}

/** The filter of a list that fills itself; null for a static one. */
export function contactsOf({ kind, filter }: List): ContactSearch | null {
  return kind === 'static' ? null : compile(filter ?? {});
}

/** Throws unless the list is static: callers add and remove contacts of static lists only. */
export function checkStatic({ kind }: List): void {
  if (kind === 'static') return;
  const detail =
    kind === 'builtin'
      ? 'The built-in list always contains all contacts. You cannot add contacts to it or remove them from it'
      : 'A dynamic list contains the contacts that match its filter. You cannot add contacts to it or remove them from it';
  throw problem('list_not_static', { detail });
}

export function builtinStays(): Problem {
  return problem('list_not_static', { detail: 'The built-in list cannot be changed or deleted' });
}

/** Refuses a filter that finds all contacts: that would be the built-in list. */
export function checkFilter(filter: Usable<ContactFilter>, refuse: Refuse): void {
  if (Object.values(filter).includes(undefined)) return;
  if (compile(filter).terms.length === 0) refuse('filter', 'must have a search, a tag or a clientReference');
}

/** Checks a filter and returns it as it is stored. */
export function checkedFilter(filter: ContactFilter): ContactFilter {
  const faults = new Faults();
  checkFilter(filter, faults.refuse);
  faults.throwAny();
  const { search, tag, clientReference } = filter;
  return {
    search: search?.trim() ? search : null,
    tag: tag?.trim() ? tag : null,
    clientReference: clientReference || null,
  };
}

export async function toWire(workspaceId: string, list: List): Promise<ContactList> {
  const [wire] = await toWireAll(workspaceId, [list]);
  return wire!;
}

/** Reads no contacts, however many lists there are. */
export async function toWireAll(workspaceId: string, lists: List[]): Promise<ContactList[]> {
  const copiedInto = await listCopiedInto(
    workspaceId,
    lists.map(({ id }) => id),
  );
  const wires: ContactList[] = [];
  for (const list of lists)
    wires.push(
      wireOf(ContactList, {
        ...list,
        filter: list.filter && {
          search: list.filter.search ?? null,
          tag: list.filter.tag ?? null,
          clientReference: list.filter.clientReference ?? null,
        },
        contactCount: await sizeOf(workspaceId, list),
        contactCountAt: list.kind === 'dynamic' ? list.countedAt : null,
        copyInProgress: copiedInto.has(list.id),
      }),
    );
  return wires;
}
