import { now } from '../../clock.ts';
import * as db from '../../db/contact-lists.ts';
import { invalid, problem } from '../../errors.ts';
import type { ContactList, ContactListChanges } from '../../schemas/contact-lists.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { builtinId, builtinStays, checkedFilter, toWire } from './record.ts';

/** What is left out or null stays; an empty description clears. */
export async function change(caller: Caller, id: string, changes: ContactListChanges): Promise<ContactList> {
  const { workspaceId } = caller;
  if (id === builtinId(workspaceId)) throw builtinStays();
  const list = await db.findContactListForUpdate(workspaceId, id);
  if (!list) throw problem('not_found');
  const { name, description, filter } = changes;
  if (filter && list.kind !== 'dynamic') throw invalid('filter', 'is for dynamic lists');
  const changed: db.ContactListRecord = {
    ...list,
    name: name ?? list.name,
    description: description == null ? list.description : description || null,
    filter: filter ? checkedFilter(filter) : list.filter,
  };
  if (!isChanged(list, changed)) return toWire(workspaceId, list);
  changed.updatedAt = now();
  changed.countedUntil = null;
  await db.updateContactList(workspaceId, changed);
  return toWire(workspaceId, changed);
}

function isChanged(before: db.ContactListRecord, after: db.ContactListRecord): boolean {
  return (
    before.name !== after.name ||
    before.description !== after.description ||
    JSON.stringify(before.filter) !== JSON.stringify(after.filter)
  );
}
