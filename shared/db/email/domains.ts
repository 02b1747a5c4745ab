import { idToBytes } from '../../formats/ids.ts';
import type { EmailDomainStatus, RecordPurpose, RecordStatus } from '../../schemas/email/domains.ts';
import { binaryText, bytes, id, json, text, time } from '../client/columns.ts';
import { listNewest, type Page } from '../client/listing.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, type Changed, execute, query } from '../client.ts';

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

/** Throws the database's duplicate-key error where the workspace has a domain of this name. */
export async function insertEmailDomain(workspaceId: string, record: EmailDomainRecord): Promise<void> {
  await query('INSERT INTO email_domains SET ?', [
    { ...emailDomains.toRow(record), workspace_id: idToBytes(workspaceId) },
  ]);
}

/** Stores the changes that a DNS check makes. */
export async function updateEmailDomain(workspaceId: string, record: EmailDomainRecord): Promise<void> {
  await query(`UPDATE email_domains ${byId} SET ? WHERE id = ? AND workspace_id = ?`, [
    checked.toRow(record),
    idToBytes(record.id),
    idToBytes(workspaceId),
  ]);
}

/** `name` in the form that the address parser gives: lower case, punycode. */
export async function findEmailDomainByName(
  workspaceId: string,
  name: string,
): Promise<EmailDomainRecord | null> {
  return emailDomains.toFirst(
    await execute('SELECT * FROM email_domains WHERE workspace_id = ? AND name = ?', [
      idToBytes(workspaceId),
      Buffer.from(name),
    ]),
  );
}

export async function findEmailDomain(workspaceId: string, id: string): Promise<EmailDomainRecord | null> {
  return emailDomains.toFirst(
    await execute(`SELECT * FROM email_domains ${byId} WHERE id = ? AND workspace_id = ?`, [
      idToBytes(id),
      idToBytes(workspaceId),
    ]),
  );
}

/** Returns the domain, locked until the transaction ends. */
export async function findEmailDomainForUpdate(
  workspaceId: string,
  id: string,
): Promise<EmailDomainRecord | null> {
  return emailDomains.toFirst(
    await execute(`SELECT * FROM email_domains ${byId} WHERE id = ? AND workspace_id = ? FOR UPDATE`, [
      idToBytes(id),
      idToBytes(workspaceId),
    ]),
  );
}

export async function findEmailDomainCount(workspaceId: string): Promise<number> {
  const [row] = await execute<{ count: number }[]>(
    'SELECT COUNT(*) AS count FROM email_domains WHERE workspace_id = ?',
    [idToBytes(workspaceId)],
  );
  return row!.count;
}

/** Newest first. */
export async function listEmailDomains(workspaceId: string, page: Page): Promise<EmailDomainRecord[]> {
  return listNewest(workspaceId, { table: emailDomains, index: 'email_domains_listed' }, page);
}

export async function deleteEmailDomain(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM email_domains WHERE id = ? AND workspace_id = ?',
    [idToBytes(id), idToBytes(workspaceId)],
  );
  return affectedRows === 1;
}
