import { now } from '../../common/clock.ts';
import type { FieldErrors } from '../../common/errors.ts';
import { Faults, isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import type { ListCount } from '../../db/contact-lists/contact-lists.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import { type ContactList, mostLists, type NewContactList } from '../../schemas/contact-lists.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { refuseOneMore } from '../requests/refusals.ts';
import { countNow, want } from './count.ts';
import { checkedFilter, checkFilter, toWire } from './record.ts';

type PreparedList = { filter: ContactFilter | null; counted: ListCount };

/** Checks the filter and counts its contacts. Call it before the transaction, as counting takes a while. */
export async function prepare({ workspaceId }: Caller, request: NewContactList): Promise<PreparedList> {
  const filter = filterOf(request);
  const none = { memberCount: 0, countedAt: null, countedUntil: null };
  return { filter, counted: filter ? await countNow(workspaceId, filter) : none };
}

export async function create(
  { workspaceId }: Caller,
  request: NewContactList,
  { filter, counted }: PreparedList,
): Promise<ContactList> {
  const createdAt = now();
  const record: db.ContactListRecord = {
    id: newId('list', createdAt),
    name: request.name,
    description: request.description || null,
    kind: request.kind ?? 'static',
    filter,
    ...counted,
    countWantedAt: null,
    createdAt,
    updatedAt: createdAt,
  };
  // Lock the workspace, so that two requests at once cannot both make the last list that a workspace may have.
  await findWorkspaceForUpdate(workspaceId);
  refuseOneMore(await db.findContactListCount(workspaceId), mostLists, 'lists');
  await db.insertContactList(workspaceId, record);
  if (record.kind === 'dynamic' && !record.countedAt) await want(workspaceId, [record.id]);
  return toWire(workspaceId, record);
}

function filterOf(request: NewContactList): ContactFilter | null {
  const errors = faultsOfNew(request);
  throwAny(errors);
  return request.kind === 'dynamic' ? checkedFilter(request.filter!) : null;
}

/** Returns the faults for which `prepare` would refuse a request. Skips fields of the wrong shape. */
export function faultsOfNew(request: Usable<NewContactList>): FieldErrors {
  const { kind, filter } = request;
  const faults = new Faults();
  if (filter) checkFilter(filter, faults.refuse);
  if (isUnusable(request, 'kind') || isUnusable(request, 'filter')) return faults.errors;
  if (kind === 'dynamic' && !filter) faults.refuse('filter', 'is required for a dynamic list');
  if (kind !== 'dynamic' && filter) faults.refuse('filter', 'is allowed only for kind dynamic');
  return faults.errors;
}
