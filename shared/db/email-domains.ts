import { idFromBytes, idToBytes } from '../formats/ids.ts';
import { execute, query, type Row } from './client.ts';

export type EmailDomainRecord = {
  id: string;
  name: string;
  status: 'pending' | 'verified' | 'warning' | 'failed';
  dkimSelector: string;
  /** Sealed; opens with the domain's id. */
  dkimPrivateKey: Buffer;
  /** The value of the TXT record. */
  dkimPublicKey: string;
  createdAt: Date;
  verifiedAt: Date | null;
  lastCheckedAt: Date | null;
};

export async function insertEmailDomain(workspaceId: string, record: EmailDomainRecord): Promise<void> {
  await query('INSERT INTO email_domains SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      name: record.name,
      status: record.status,
      dkim_selector: record.dkimSelector,
      dkim_private_key: record.dkimPrivateKey,
      dkim_public_key: record.dkimPublicKey,
      created_at: record.createdAt,
      verified_at: record.verifiedAt,
      last_checked_at: record.lastCheckedAt,
    },
  ]);
}

/** `name` in the form that the address parser gives: lower case, punycode. */
export async function findEmailDomain(workspaceId: string, name: string): Promise<EmailDomainRecord | null> {
  const [row] = await execute('SELECT * FROM email_domains WHERE workspace_id = ? AND name = ?', [
    idToBytes(workspaceId),
    Buffer.from(name),
  ]);
  return row ? toRecord(row) : null;
}

function toRecord(row: Row): EmailDomainRecord {
  return {
    id: idFromBytes('domain', row.id),
    name: row.name.toString(),
    status: row.status,
    dkimSelector: row.dkim_selector.toString(),
    dkimPrivateKey: row.dkim_private_key,
    dkimPublicKey: row.dkim_public_key,
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
    lastCheckedAt: row.last_checked_at,
  };
}
