import { config } from '../../../config/config.ts';
import type { EmailDomainRecord } from '../../../db/email/domains.ts';
import type { SystemMail } from '../../operations/system-mail.ts';
import { wantedOf } from './records.ts';

/** Returns the mail to the workspace when a sending domain is about to stop, or has stopped; null for other changes. */
export function mailAbout(before: EmailDomainRecord, domain: EmailDomainRecord): SystemMail | null {
  const facts = factsOf(domain);
  const address = `${config.PUBLIC_URL}/v2/email/domains/${domain.id}`;
  if (before.status === 'verified' && domain.status === 'warning')
    return {
      subject: `The DKIM record of ${domain.name} is gone`,
      text: [
        `The DNS of the sending domain ${domain.name} no longer shows its DKIM record.`,
        facts,
        'What happens next: its email still goes out for 24 hours. If the record is not back by then, email from this domain is refused, and what is queued fails.',
        `What to do: publish the record again. It is looked for every hour, and at once after\nPOST ${address}/verify`,
      ].join('\n\n'),
    };
  if (before.status === 'warning' && domain.status === 'failed')
    return {
      subject: `${domain.name} can no longer send`,
      text: [
        `The DKIM record of the sending domain ${domain.name} has been gone for 24 hours, so email from it is refused, and what is queued fails when it is due.`,
        facts,
        `What to do: publish the record again. It is looked for every day, and at once after\nPOST ${address}/verify`,
      ].join('\n\n'),
    };
  return null;
}

function factsOf(domain: EmailDomainRecord): string {
  const [dkim] = wantedOf(domain);
  const check = domain.checks.dkim;
  return [
    `Record:    ${dkim!.name} TXT`,
    `Value:     ${dkim!.value}`,
    ...(check?.error ? [`Now:       ${check.error}`] : []),
  ].join('\n');
}
