import type { Endpoint } from '../endpoint.ts';
import apiKeys from './api-keys.ts';
import contactLists from './contact-lists.ts';
import contacts from './contacts.ts';
import conversations from './conversations.ts';
import emailDomains from './email/domains.ts';
import email from './email/email.ts';
import emailIncludes from './email/includes.ts';
import emailTemplates from './email/templates.ts';
import emailTestRecipients from './email/test-recipients.ts';
import events from './events.ts';
import reports from './reports.ts';
import senders from './senders.ts';
import simulator from './simulator.ts';
import smsBatches from './sms/batches.ts';
import smsPreview from './sms/preview.ts';
import sms from './sms/sms.ts';
import suppressions from './suppressions.ts';
import templates from './templates.ts';
import webhooks from './webhooks.ts';
import workspace from './workspace.ts';

/**
 * Every operation, a line per resource. The order is that of the API description, and that in which paths are matched:
 * `/v2/email/domains` comes before `/v2/email/{id}`.
 */
export const endpoints: readonly Endpoint[] = [
  ...emailDomains,
  ...emailTemplates,
  ...emailIncludes,
  ...emailTestRecipients,
  ...email,
  ...templates,
  ...smsPreview,
  ...smsBatches,
  ...sms,
  ...conversations,
  ...simulator,
  ...webhooks,
  ...events,
  ...suppressions,
  ...senders,
  ...contacts,
  ...contactLists,
  ...apiKeys,
  ...reports,
  ...workspace,
];
