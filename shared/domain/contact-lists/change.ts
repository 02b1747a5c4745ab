import { now } from '../../common/clock.ts';
import { type FieldErrors, orNotFound } from '../../common/errors.ts';
import { checked, faultsIn, type Refuse, type Usable } from '../../common/faults.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import type { ContactList, ContactListChanges } from '../../schemas/contact-lists.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { countNow, want } from './count.ts';
import {
  builtinId,
  builtinStays,
  checkedFilter,
  checkFilter,
  findList,
  type List,
  toWire,
} from './record.ts';

/**
 * Returns the faults for which `prepareChange` and `change` would refuse a request. Skips fields of the wrong shape.
 */
export async function faultsOfChange(
  { workspaceId }: Caller,
  id: string,
  changes: Usable<ContactListChanges>,
): Promise<FieldErrors> {
  if (!changes.filter && changes.kind == null) return {};
  const list = await findList(workspaceId, id);
  return faultsIn((refuse) => checkChanges(list, changes, refuse));
}

function checkChanges(
  list: Pick<List, 'kind'>,
  { kind, filter }: Usable<ContactListChanges>,
  refuse: Refuse,
): void {
  if (kind != null && kind !== list.kind) refuse('kind', `cannot be changed: the list stays ${list.kind}`);
  if (!filter) return;
  if (list.kind === 'dynamic') checkFilter(filter, refuse);
  else refuse('filter', 'is allowed only for a dynamic list');
}

/** Counts the contacts that a new filter finds. Call it before the transaction, as counting takes a while. */
export async function prepareChange(
  { workspaceId }: Caller,
  id: string,
  changes: ContactListChanges,
): Promise<db.ListCount | null> {
  const { filter } = changes;
  if (!filter) return null;
  const list = await findList(workspaceId, id);
  if (list.kind !== 'dynamic') return null;
  await checked((refuse) => checkChanges(list, changes, refuse));
  return countNow(workspaceId, checkedFilter(filter));
}

/** A field that is left out or null stays; an empty description clears. */
export async function change(
  { workspaceId }: Caller,
  id: string,
  changes: ContactListChanges,
  counted: db.ListCount | null,
): Promise<ContactList> {
  if (id === builtinId(workspaceId)) throw builtinStays();
  const list = orNotFound(await db.findContactListForUpdate(workspaceId, id));
  const { name, description, filter } = changes;
  await checked((refuse) => checkChanges(list, changes, refuse));
  const changed: db.ContactListRecord = {
    ...list,
    name: name ?? list.name,
    description: description == null ? list.description : description || null,
    ...(filter && { filter: checkedFilter(filter), ...counted }),
  };
  if (!isChanged(list, changed)) return toWire(workspaceId, list);
  changed.updatedAt = now();
  await db.updateContactList(workspaceId, changed);
  if (filter && !changed.countedAt) await want(workspaceId, [id]);
  return toWire(workspaceId, changed);
}

function isChanged(before: db.ContactListRecord, after: db.ContactListRecord): boolean {
  return (
    before.name !== after.name ||
    before.description !== after.description ||
    JSON.stringify(before.filter) !== JSON.stringify(after.filter)
  );
}
