import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { EmailDomainStatus, RecordPurpose, RecordStatus } from '../../schemas/email/domains.ts';
import { listNewest, type Page } from '../client/listing.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';

/** The last look at a record that was to have this value. */
export type RecordCheck = { value: string; status: RecordStatus; error: string | null };
export type RecordChecks = { [Purpose in RecordPurpose]?: RecordCheck };

export type EmailDomainRecord = {
  id: string;
  workspaceId: string;
  name: string;
  status: EmailDomainStatus;
  dkimSelector: string;
  /** Sealed; opens with the domain's id. */
  dkimPrivateKey: Buffer;
  /** The value of the TXT record. */
  dkimPublicKey: string;
  checks: RecordChecks;
  createdAt: Date;
  verifiedAt: Date | null;
  /** When the last look at the DNS that counted began. */
  lastCheckedAt: Date | null;
  /** Since when the status is `warning`. */
  warningSince: Date | null;
  /** Null: the operator vouches for the domain, and its DNS decides nothing. */
  checkDueAt: Date | null;
};

/** Throws the database's duplicate-key error where the workspace has a domain of this name. */
export async function insertEmailDomain(workspaceId: string, record: EmailDomainRecord): Promise<void> {
  await query('INSERT INTO email_domains SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      name: Buffer.from(record.name),
      dkim_selector: Buffer.from(record.dkimSelector),
      dkim_private_key: record.dkimPrivateKey,
      dkim_public_key: record.dkimPublicKey,
      created_at: record.createdAt,
      ...changing(record),
    },
  ]);
}

/** Stores the changes that a look at the DNS makes. */
export async function updateEmailDomain(workspaceId: string, record: EmailDomainRecord): Promise<void> {
  await query(`UPDATE email_domains ${byId} SET ? WHERE id = ? AND workspace_id = ?`, [
    changing(record),
    idToBytes(record.id),
    idToBytes(workspaceId),
  ]);
}

function changing(record: EmailDomainRecord) {
  return {
    status: record.status,
    checks: JSON.stringify(record.checks),
    verified_at: record.verifiedAt,
    last_checked_at: record.lastCheckedAt,
    warning_since: record.warningSince,
    check_due_at: record.checkDueAt,
  };
}

/** `name` in the form that the address parser gives: lower case, punycode. */
export async function findEmailDomainByName(
  workspaceId: string,
  name: string,
): Promise<EmailDomainRecord | null> {
  const [row] = await execute('SELECT * FROM email_domains WHERE workspace_id = ? AND name = ?', [
    idToBytes(workspaceId),
    Buffer.from(name),
  ]);
  return row ? toRecord(row) : null;
}

export async function findEmailDomain(workspaceId: string, id: string): Promise<EmailDomainRecord | null> {
  const [row] = await execute(`SELECT * FROM email_domains ${byId} WHERE id = ? AND workspace_id = ?`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
  return row ? toRecord(row) : null;
}

/** Nobody else changes it until the transaction ends. */
export async function findEmailDomainForUpdate(
  workspaceId: string,
  id: string,
): Promise<EmailDomainRecord | null> {
  const [row] = await execute(
    `SELECT * FROM email_domains ${byId} WHERE id = ? AND workspace_id = ? FOR UPDATE`,
    [idToBytes(id), idToBytes(workspaceId)],
  );
  return row ? toRecord(row) : null;
}

export async function findEmailDomainCount(workspaceId: string): Promise<number> {
  const [row] = await execute('SELECT COUNT(*) AS count FROM email_domains WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(row!.count);
}

/** Newest first. */
export async function listEmailDomains(workspaceId: string, page: Page): Promise<EmailDomainRecord[]> {
  const rows = await listNewest(workspaceId, { table: 'email_domains', index: 'email_domains_listed' }, page);
  return rows.map(toRecord);
}

export async function deleteEmailDomain(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM email_domains WHERE id = ? AND workspace_id = ?',
    [idToBytes(id), idToBytes(workspaceId)],
  );
  return affectedRows === 1;
}

export function toRecord(row: Row): EmailDomainRecord {
  return {
    id: idFromBytes('domain', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    name: row.name.toString(),
    status: row.status,
    dkimSelector: row.dkim_selector.toString(),
    dkimPrivateKey: row.dkim_private_key,
    dkimPublicKey: row.dkim_public_key,
    checks: row.checks === null ? {} : JSON.parse(row.checks),
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
    lastCheckedAt: row.last_checked_at,
    warningSince: row.warning_since,
    checkDueAt: row.check_due_at,
  };
}
