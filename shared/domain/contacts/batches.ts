import { now } from '../../common/clock.ts';
import { timeSlices } from '../../common/time-slices.ts';
import * as db from '../../db/contacts/contacts.ts';
import { type PhoneNumber, parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import {
  type ContactBatch,
  type ContactBatchOutcome,
  type ContactRow,
  contactTextLengths,
  contactTexts,
} from '../../schemas/contacts.ts';
import { characterIssue } from '../../schemas/fields.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { orTaken } from '../requests/refusals.ts';
import * as contacts from './contacts.ts';

type GoodRow = { number: PhoneNumber; texts: contacts.TextChanges };
type PreparedContacts = { rows: GoodRow[] } & Pick<ContactBatchOutcome, 'errors' | 'truncations'>;

const mostExamples = 5;

/** Sorts the rows: those that can be saved, the faults of the others, and the texts that were too long. */
export async function prepare({ contacts: given }: ContactBatch): Promise<PreparedContacts> {
  const prepared: PreparedContacts = { rows: [], errors: [], truncations: [] };
  const lengths = new Map<string, ContactBatchOutcome['truncations'][number]>();
  const slices = timeSlices();
  for (const [index, row] of given.entries()) {
    if (slices.isOver()) await slices.next();
    const number = parsePhoneNumber(row.number);
    const error = number.ok ? textError(row) : `number ${number.message}`;
    if (!number.ok || error !== null) {
      prepared.errors.push({ index, error: error! });
      continue;
    }
    prepared.rows.push({ number, texts: shortened(row, index, lengths) });
  }
  prepared.truncations = contactTexts.flatMap((field) => lengths.get(field) ?? []);
  return prepared;
}

function textError(row: ContactRow): string | null {
  for (const field of contactTexts) {
    const issue = characterIssue(row[field] ?? '');
    if (issue !== null) return `${field} ${issue}`;
  }
  return null;
}

function shortened(
  row: ContactRow,
  index: number,
  lengths: Map<string, ContactBatchOutcome['truncations'][number]>,
): contacts.TextChanges {
  const texts: contacts.TextChanges = {};
  for (const field of contactTexts) {
    const value = row[field];
    const maxLength = contactTextLengths[field];
    texts[field] = value;
    if (value == null || value.length <= maxLength) continue;
    const characters = [...value];
    if (characters.length <= maxLength) continue;
    texts[field] = characters.slice(0, maxLength).join('');
    const truncation = lengths.get(field) ?? { field, maxLength, count: 0, exampleRows: [] };
    lengths.set(field, truncation);
    truncation.count += 1;
    if (truncation.exampleRows.length < mostExamples) truncation.exampleRows.push(index);
  }
  return texts;
}

/**
 * Saves all of the rows, or none. A number that comes twice is one contact, to which the later row adds. If two
 * requests create the same contacts at the same time, the later one is refused and may be sent again.
 */
export async function save(
  { workspaceId }: Caller,
  { rows, errors, truncations }: PreparedContacts,
): Promise<ContactBatchOutcome> {
  const at = now();
  const numbers = [...new Set(rows.map(({ number }) => number.number))];
  const known = await db.listContactsByNumberForUpdate(workspaceId, numbers);
  const before = new Map(known.map((record) => [record.number, record]));
  const after = new Map<string, db.ContactRecord>();
  for (const { number, texts } of rows) {
    const record = after.get(number.number) ?? before.get(number.number);
    after.set(
      number.number,
      record ? contacts.withTexts(record, texts) : contacts.newRecord(number, texts, at),
    );
  }
  const created = [...after.values()].filter((record) => !before.has(record.number));
  const changed = known
    .map((record) => ({ before: record, after: after.get(record.number)! }))
    .filter((change) => contacts.isChanged(change.before, change.after));
  for (const change of changed) change.after.updatedAt = at;
  await orTaken(db.writeContacts(workspaceId, { changed, created }), 'contacts_conflict');
  return { created: created.length, updated: rows.length - created.length, errors, truncations };
}
