import type { ContactRecord } from '../../../shared/db/contacts/contacts.ts';
import { newRecord } from '../../../shared/domain/contacts/contacts.ts';
import { parsePhoneNumber } from '../../../shared/formats/sms/phone-number.ts';

/** A contact that is not stored; each index has a number of its own. */
export function contactRecord(index: number, fields: Partial<ContactRecord> = {}): ContactRecord {
  const number = parsePhoneNumber(`+447${100_000_000 + ((index * 7919) % 299_999_977)}`);
  if (!number.ok) throw new Error(number.message);
  return { ...newRecord(number, {}, new Date()), ...fields };
}
