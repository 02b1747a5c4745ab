import { findRowOfAny } from '../client/rows.system.ts';
import type { DueTable } from '../work/table.system.ts';
import { type EmailDomainRecord, emailDomains } from './domains.ts';

export const checkTable: DueTable = {
  name: 'email_domains',
  key: { column: 'id', prefix: 'domain' },
  due: 'check_due_at',
  isLeased: false,
  hasRequest: false,
};

export function findEmailDomainOfAny(domainId: string): Promise<EmailDomainRecord | null> {
  return findRowOfAny(emailDomains, domainId);
}
