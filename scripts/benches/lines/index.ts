import type { Line } from '../line.ts';
import { accept, acceptLiquid } from './accept.ts';
import { atRest } from './at-rest.ts';
import { auth } from './auth.ts';
import { contactPages, contactSearch } from './contact-pages.ts';
import { contactSearchHostile } from './contact-search-hostile.ts';
import { contacts } from './contacts.ts';
import { contactsRows } from './contacts-rows.ts';
import { emailIsolation } from './email-isolation.ts';
import { emailOut } from './email-out.ts';
import { feed } from './feed.ts';
import { flowProcesses } from './flow-processes.ts';
import { flowRows } from './flow-rows.ts';
import { hostileNeighbours } from './hostile-neighbours.ts';
import { largeEmails } from './large-emails.ts';
import { latencyEmail } from './latency-email.ts';
import { latencyWebhook } from './latency-webhook.ts';
import { partitions } from './partitions.ts';
import { relay } from './relay.ts';
import { reportFreshness } from './report-freshness.ts';
import { reportQuery } from './report-query.ts';
import { revocation } from './revocation.ts';
import { rollups } from './rollups.ts';
import { smppOut } from './smpp-out.ts';
import { smsBatchLiquid, smsBatchPlain } from './sms-batch.ts';
import { smsBatchImport, smsBatchRequests } from './sms-batch-requests.ts';
import { smsBatchRows } from './sms-batch-rows.ts';
import { smsGatewayStall } from './sms-gateway-stall.ts';
import { smsIsolation, smsIsolationBatch } from './sms-isolation.ts';
import { smsOut } from './sms-out.ts';
import { webhookBacklog } from './webhook-backlog.ts';
import { webhookIsolation } from './webhook-isolation.ts';
import { webhooksOut } from './webhooks-out.ts';

export const lines: Line[] = [
  accept,
  acceptLiquid,
  auth,
  emailOut,
  emailIsolation,
  smsOut,
  smppOut,
  smsGatewayStall,
  smsIsolation,
  smsIsolationBatch,
  smsBatchLiquid,
  smsBatchPlain,
  smsBatchRows,
  smsBatchRequests,
  smsBatchImport,
  largeEmails,
  webhooksOut,
  webhookIsolation,
  webhookBacklog,
  latencyEmail,
  latencyWebhook,
  revocation,
  partitions,
  relay,
  rollups,
  reportFreshness,
  feed,
  contacts,
  contactsRows,
  contactPages,
  contactSearch,
  contactSearchHostile,
  reportQuery,
  hostileNeighbours,
  atRest,
  flowProcesses,
  flowRows,
];
