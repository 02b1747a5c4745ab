import { idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query } from '../client.ts';
import { type EmailDomainRecord, toRecord } from '../email-domains.ts';

/** Domains whose DNS it is time to look at, longest due first. */
export async function listDueEmailDomains(at: Date, limit: number): Promise<EmailDomainRecord[]> {
  const rows = await query(
    'SELECT * FROM email_domains WHERE check_due_at <= ? ORDER BY check_due_at LIMIT ?',
    [at, limit],
  );
  return rows.map(toRecord);
}

/** True for the one that looks at it; until then nobody else does. */
export async function claimEmailDomain(domainId: string, at: Date, until: Date): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE email_domains ${byId} SET check_due_at = ? WHERE id = ? AND check_due_at <= ?`,
    [until, idToBytes(domainId), at],
  );
  return affectedRows === 1;
}
