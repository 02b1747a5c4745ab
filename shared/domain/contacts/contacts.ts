import { now } from '../../common/clock.ts';
import { orNotFound, problem } from '../../common/errors.ts';
import { checked, faultsIn, orRefuse, type Refuse, type Usable } from '../../common/faults.ts';
import * as db from '../../db/contacts/contacts.ts';
import { type ContactErasure, insertContactErasure } from '../../db/contacts/erasures.ts';
import { listContacts } from '../../db/contacts/search.ts';
import { listSuppressedNumbers } from '../../db/suppressions.ts';
import { newId } from '../../formats/ids.ts';
import { type PhoneNumber, parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import {
  Contact,
  type ContactChanges,
  type ContactQuery,
  type ContactText,
  contactTexts,
  type NewContact,
} from '../../schemas/contacts.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { type CursorPage, mapPage, searchedPage } from '../requests/keyset-pages.ts';
import { orTaken } from '../requests/refusals.ts';
import { wireOf } from '../requests/wire.ts';
import * as contactFilter from './filter.ts';
import { searching } from './searches.ts';
import * as contactTags from './tags.ts';

/** The operations of a caller on single contacts. */

export async function create(caller: Caller, request: NewContact): Promise<Contact> {
  const { number, tags } = await checked((refuse) => check(request, refuse));
  const record = newRecord(number!, request, now());
  record.tags = tags;
  await orNumberTaken(db.insertContacts(caller.workspaceId, [record]), record);
  return toWire(caller, record);
}

export function newRecord(number: PhoneNumber, texts: TextChanges, createdAt: Date): db.ContactRecord {
  const { number: e164, national, country } = number;
  const empty = { firstName: null, lastName: null, company: null, email: null, clientReference: null };
  const id = newId('contact', createdAt);
  const times = { createdAt, updatedAt: createdAt };
  return setTexts({ id, number: e164, national, country, ...empty, tags: [], ...times }, texts);
}

export type TextChanges = { [Name in ContactText]?: string | null | undefined };

/** A field that is left out or null stays; an empty text clears. */
export function withTexts(record: db.ContactRecord, changes: TextChanges): db.ContactRecord {
  return setTexts({ ...record }, changes);
}

function setTexts(record: db.ContactRecord, changes: TextChanges): db.ContactRecord {
  for (const name of contactTexts) if (changes[name] != null) record[name] = changes[name] || null;
  return record;
}

type CheckedContactFields = Pick<ContactChanges, 'number' | 'tags'>;

/** Checks a request and returns its values in their stored form: `number` is null where none is given. */
function check({ number, tags }: Usable<CheckedContactFields>, refuse: Refuse) {
  return {
    number: number == null ? null : orRefuse(parsePhoneNumber(number), 'number', refuse),
    tags: contactTags.checkTags(tags, refuse),
  };
}

/** The faults for which `create` and `update` would refuse a request, as far as the fields can be used. */
export const faultsOf = (request: Usable<CheckedContactFields>) =>
  faultsIn((refuse) => check(request, refuse));

function orNumberTaken(writing: Promise<void>, { number }: db.ContactRecord): Promise<void> {
  return orTaken(writing, 'number_taken', `This workspace already has a contact with the number ${number}`);
}

export async function list(
  { workspaceId }: Caller,
  { limit, cursor, ...filter }: ContactQuery,
): Promise<CursorPage<Contact>> {
  const binding = { workspaceId, listing: 'contacts', filter };
  const compiled = contactFilter.compile(filter);
  return mapPage(
    searchedPage(binding, { limit, cursor }, (range) =>
      searching(workspaceId, compiled, () => listContacts(workspaceId, compiled, range)),
    ),
    (records) => toWireAll(workspaceId, records),
  );
}

export async function find(caller: Caller, id: string): Promise<Contact> {
  const record = orNotFound(await db.findContact(caller.workspaceId, id));
  return toWire(caller, record);
}

export async function update(caller: Caller, id: string, changes: ContactChanges): Promise<Contact> {
  const before = await findForUpdate(caller, id);
  // A contact's number may be older than the rule for numbers, so an unchanged number is not checked again.
  const ruled = changes.number === before.number ? { ...changes, number: null } : changes;
  const given = await checked((refuse) => check(ruled, refuse));
  const after = withTexts(before, changes);
  if (given.number && given.number.number !== before.number) {
    const { number, national, country } = given.number;
    Object.assign(after, { number, national, country });
  }
  if (changes.tags) after.tags = given.tags;
  if (!isChanged(before, after)) return toWire(caller, before);
  after.updatedAt = now();
  await orNumberTaken(db.writeContacts(caller.workspaceId, { changed: [{ before, after }] }), after);
  return toWire(caller, after);
}

export function isChanged(before: db.ContactRecord, after: db.ContactRecord): boolean {
  return (
    before.number !== after.number ||
    contactTexts.some((name) => before[name] !== after[name]) ||
    !contactTags.areEqual(before.tags, after.tags)
  );
}

/**
 * Deletes a contact for good, with its tags and its list memberships. Its messages stay. After the commit, erasure.ts
 * removes the contact's id from them.
 */
export async function remove(caller: Caller, id: string): Promise<ContactErasure> {
  const { workspaceId } = caller;
  const record = await findForUpdate(caller, id);
  const erasure = { contactId: id, workspaceId, number: record.number, createdAt: now() };
  await insertContactErasure(workspaceId, erasure);
  await db.deleteContact(workspaceId, record);
  return erasure;
}

async function findForUpdate(caller: Caller, id: string): Promise<db.ContactRecord> {
  const [record] = await db.listContactsByIds(caller.workspaceId, [id], 'FOR UPDATE');
  if (!record) throw problem('not_found');
  return record;
}

async function toWire(caller: Caller, record: db.ContactRecord): Promise<Contact> {
  const [contact] = await toWireAll(caller.workspaceId, [record]);
  return contact!;
}

/** Returns contacts as callers see them. One query for all of them tells which are suppressed now. */
export async function toWireAll(workspaceId: string, records: db.ContactRecord[]): Promise<Contact[]> {
  const suppressed = await listSuppressedNumbers(
    workspaceId,
    records.map(({ number }) => number),
  );
  return records.map((record) => wireOf(Contact, { ...record, suppressed: suppressed.has(record.number) }));
}
