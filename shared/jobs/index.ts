import { checkDomains } from './check-domains.ts';
import { copyContacts } from './copy-contacts.ts';
import { countContacts } from './count-contacts.ts';
import { countReports } from './count-reports.ts';
import { deliverWebhook } from './deliver-webhook.ts';
import { expandBatch } from './expand-batch.ts';
import type { Job } from './job.ts';
import { purgeExpired } from './purge-expired.ts';
import { relayEvents } from './relay-events.ts';
import { releaseSms } from './release-sms.ts';
import { sendEmail } from './send-email.ts';
import { sendSms } from './send-sms.ts';
import { settleWebhook } from './settle-webhook.ts';
import { simulatorAnswer } from './simulator-answer.ts';
import { sweep } from './sweep.ts';
import { webhookHealth } from './webhook-health.ts';

export const jobs: Job[] = [
  sendEmail,
  sendSms,
  releaseSms,
  expandBatch,
  simulatorAnswer,
  deliverWebhook,
  settleWebhook,
  copyContacts,
  countContacts,
  checkDomains,
  relayEvents,
  countReports,
  sweep,
  purgeExpired,
  webhookHealth,
];

/** Every queue there is: one for each lane of each job. */
export const queueNames: string[] = jobs.flatMap((job) => Object.values<string>(job.lanes));
