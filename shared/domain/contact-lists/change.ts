import { now } from '../../common/clock.ts';
import { type FieldErrors, invalid, problem } from '../../common/errors.ts';
import { Faults, type Usable } from '../../common/faults.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import type { ContactList, ContactListChanges } from '../../schemas/contact-lists.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { countNow, want } from './count.ts';
import { builtinId, builtinStays, checkedFilter, checkFilter, findList, toWire } from './record.ts';

/** The faults for which `prepareChange` and `change` would refuse a request, as far as the fields can be used. */
export async function faultsOfChange(
  { workspaceId }: Caller,
  id: string,
  { filter }: Usable<ContactListChanges>,
): Promise<FieldErrors> {
  const faults = new Faults();
  if (!filter) return {};
  if ((await findList(workspaceId, id)).kind === 'dynamic') checkFilter(filter, faults.refuse);
  else faults.refuse('filter', 'goes with a dynamic list only');
  return faults.errors;
}

/** How many contacts another filter finds, before the transaction, as it takes a while to count. */
export async function prepareChange(
  { workspaceId }: Caller,
  id: string,
  { filter }: ContactListChanges,
): Promise<db.ListCount | null> {
  if (!filter || (await findList(workspaceId, id)).kind !== 'dynamic') return null;
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
  const list = await db.findContactListForUpdate(workspaceId, id);
  if (!list) throw problem('not_found');
  const { name, description, kind, filter } = changes;
  if (kind != null && kind !== list.kind) throw invalid('kind', `cannot be changed from ${list.kind}`);
  if (filter && list.kind !== 'dynamic') throw invalid('filter', 'goes with a dynamic list only');
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
