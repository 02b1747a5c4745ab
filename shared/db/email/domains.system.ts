import { idToBytes } from '../../formats/ids.ts';
import { byId, execute } from '../client.ts';
import type { DueTable } from '../work/table.system.ts';
import { type EmailDomainRecord, emailDomains } from './domains.ts';

export const checkTable: DueTable = {
  name: 'email_domains',
  key: { column: 'id', prefix: 'domain' },
  due: 'check_due_at',
  isLeased: false,
  hasRequest: false,
};

export async function findEmailDomainOfAny(domainId: string): Promise<EmailDomainRecord | null> {
  return emailDomains.toFirst(
    await execute(`SELECT * FROM email_domains ${byId} WHERE id = ?`, [idToBytes(domainId)]),
  );
}
