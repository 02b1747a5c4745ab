import { findRowOfAny } from '../client/rows.system.ts';
import { dueTable } from '../work/table.system.ts';
import { type EmailDomainRecord, emailDomains } from './domains.ts';

export const checkTable = dueTable(emailDomains, {
  key: 'id',
  due: 'checkDueAt',
  index: 'email_domains_due',
});

export function findEmailDomainOfAny(domainId: string): Promise<EmailDomainRecord | null> {
  return findRowOfAny(emailDomains, domainId);
}
