import type { EmailDomainStatus, RecordPurpose, RecordStatus } from '../../schemas/email/domains.ts';
import { binaryText, bytes, id, json, text, time } from '../client/columns.ts';
import { listNewest, type Page } from '../client/listing.ts';
import { findRow, rowsOf } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';

/** The result of the last DNS check of a record; `value` is the value that the record was to have then. */
export type RecordCheck = { value: string; status: RecordStatus; error: string | null };
export type RecordChecks = { [Purpose in RecordPurpose]?: RecordCheck };

export const emailDomains = table('email_domains', {
  id: id('domain'),
  workspaceId: id('workspace'),
  name: binaryText(),
  status: text<EmailDomainStatus>(),
  dkimSelector: binaryText(),
  /** Encrypted (sealed); the domain's id is needed to open it. */
  dkimPrivateKey: bytes(),
  /** The value of the TXT record. */
  dkimPublicKey: text(),
  checks: json<RecordChecks>().nullableAs(() => ({})),
  createdAt: time(),
  verifiedAt: time().nullable(),
  /** When the last DNS check that counted began. */
  lastCheckedAt: time().nullable(),
  /** Since when the status is `warning`. */
  warningSince: time().nullable(),
  /** Null: the operator vouches for the domain, and its DNS decides nothing. */
  checkDueAt: time().nullable(),
});
const checked = emailDomains.pick(
  'status',
  'checks',
  'verifiedAt',
  'lastCheckedAt',
  'warningSince',
  'checkDueAt',
);
export type EmailDomainRecord = RecordOf<typeof emailDomains>;

export const {
  /** Throws the database's duplicate-key error where the workspace has a domain of this name. */
  insert: insertEmailDomain,
  find: findEmailDomain,
  findForUpdate: findEmailDomainForUpdate,
  findCount: findEmailDomainCount,
  /** Stores the changes that a DNS check makes. */
  update: updateEmailDomain,
  delete: deleteEmailDomain,
} = rowsOf(emailDomains, checked);

/** `name` in the form that the address parser gives: lower case, punycode. */
export function findEmailDomainByName(workspaceId: string, name: string): Promise<EmailDomainRecord | null> {
  return findRow(workspaceId, emailDomains, { name });
}

/** Newest first. */
export async function listEmailDomains(workspaceId: string, page: Page): Promise<EmailDomainRecord[]> {
  return listNewest(workspaceId, { table: emailDomains, index: 'email_domains_listed' }, page);
}
