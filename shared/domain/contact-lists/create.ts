import { now } from '../../clock.ts';
import * as db from '../../db/contact-lists.ts';
import { findWorkspaceForUpdate } from '../../db/workspaces.ts';
import { invalid, problem } from '../../errors.ts';
import { newId } from '../../formats/ids.ts';
import { type ContactList, mostLists, type NewContactList } from '../../schemas/contact-lists.ts';
import type { ContactFilter } from '../../schemas/contacts.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { checkedFilter, toWire } from './record.ts';

export async function create(caller: Caller, request: NewContactList): Promise<ContactList> {
  const { workspaceId } = caller;
  const createdAt = now();
  const record: db.ContactListRecord = {
    id: newId('list', createdAt),
    name: request.name,
    description: request.description || null,
    kind: request.kind ?? 'static',
    filter: filterOf(request),
    memberCount: 0,
    countedUntil: null,
    createdAt,
    updatedAt: createdAt,
  };
  // It may take a while to count, so that comes before the lock.
  const wire = await toWire(workspaceId, record);
  // Locked, so that two requests at once cannot both make the last list that a workspace may have.
  await findWorkspaceForUpdate(workspaceId);
  if ((await db.findContactListCount(workspaceId)) >= mostLists)
    throw problem('limit_exceeded', { detail: `A workspace has at most ${mostLists} lists` });
  await db.insertContactList(workspaceId, record);
  return wire;
}

function filterOf({ kind, filter }: NewContactList): ContactFilter | null {
  if (kind === 'dynamic') {
    if (!filter) throw invalid('filter', 'is required for a dynamic list');
    return checkedFilter(filter);
  }
  if (filter) throw invalid('filter', 'is for dynamic lists');
  return null;
}
