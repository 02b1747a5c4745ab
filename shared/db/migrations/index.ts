import { workspaces } from './0001_workspaces.ts';
import { email } from './0002_email.ts';
import { events } from './0003_events.ts';
import { webhooks } from './0004_webhooks.ts';
import { callers } from './0005_callers.ts';
import { webhookDelivery } from './0006_webhook_delivery.ts';
import { addressBook } from './0007_address_book.ts';
import { emailTemplates } from './0008_email_templates.ts';
import { emailAttachments } from './0009_email_attachments.ts';
import { sendingDomains } from './0010_sending_domains.ts';
import { emailSending } from './0011_email_sending.ts';
import { smsPricesTemplates } from './0013_sms_prices_templates.ts';
import { senders } from './0014_senders.ts';
import { sms } from './0015_sms.ts';
import { lostClaims } from './0016_lost_claims.ts';
import { contactListCounts } from './0018_contact_list_counts.ts';
import { waitingCounts } from './0020_waiting_counts.ts';
import { smsLanes } from './0022_sms_lanes.ts';
import { smsBatches } from './0023_sms_batches.ts';
import { shortLinks } from './0024_short_links.ts';
import { smsImports } from './0025_sms_imports.ts';
import { conversations } from './0028_conversations.ts';
import { smsLedgerSums } from './0029_sms_ledger_sums.ts';
import { reports } from './0030_reports.ts';
import { webhookPauses } from './0031_webhook_pauses.ts';
import { clientTags } from './0033_client_tags.ts';
import { contactWords } from './0034_contact_words.ts';
import { smsGateways } from './0035_sms_gateways.ts';
import { smsGatewayPosts } from './0036_sms_gateway_posts.ts';
import { smsGatewayPauses } from './0038_sms_gateway_pauses.ts';
import { reportBackfill } from './0039_report_backfill.ts';
import { reportGateways } from './0042_report_gateways.ts';
import { stopReplies } from './0043_stop_replies.ts';
import { contactListCopyWindows } from './0044_contact_list_copy_windows.ts';
import { simulatorAnswerWindows } from './0045_simulator_answer_windows.ts';
import { smsBatchBytes } from './0046_sms_batch_bytes.ts';
import { smsPartlyTaken } from './0047_sms_partly_taken.ts';
import { smsBatchSenders } from './0048_sms_batch_senders.ts';
import { contactListMembersAdded } from './0049_contact_list_members_added.ts';
import { keyRotations } from './0052_key_rotations.ts';
import { webhookRestarts } from './0053_webhook_restarts.ts';
import { contactErasures } from './0054_contact_erasures.ts';
import { reportErrorCodes } from './0055_report_error_codes.ts';
import { smsTries } from './0056_sms_tries.ts';
import { workSince } from './0057_work_since.ts';
import { senderRequests } from './0058_sender_requests.ts';
import { replacedApiKeys } from './0059_replaced_api_keys.ts';
import { webhookPauseEnds } from './0060_webhook_pause_ends.ts';
import { sendingBlockedAt } from './0061_sending_blocked_at.ts';
import { smsPutOff } from './0062_sms_put_off.ts';
import { storedColumns } from './0063_stored_columns.ts';
import type { Migration } from './migration.ts';

/** In order. Each statement may be repeated, since MySQL commits every DDL statement by itself. */
export const migrations: Migration[] = [
  workspaces,
  email,
  events,
  webhooks,
  callers,
  webhookDelivery,
  addressBook,
  emailTemplates,
  emailAttachments,
  sendingDomains,
  emailSending,
  smsPricesTemplates,
  senders,
  sms,
  lostClaims,
  contactListCounts,
  waitingCounts,
  smsLanes,
  smsBatches,
  shortLinks,
  smsImports,
  conversations,
  smsLedgerSums,
  reports,
  webhookPauses,
  clientTags,
  contactWords,
  smsGateways,
  smsGatewayPosts,
  smsGatewayPauses,
  reportBackfill,
  reportGateways,
  stopReplies,
  contactListCopyWindows,
  simulatorAnswerWindows,
  smsBatchBytes,
  smsPartlyTaken,
  smsBatchSenders,
  contactListMembersAdded,
  keyRotations,
  webhookRestarts,
  contactErasures,
  reportErrorCodes,
  smsTries,
  workSince,
  senderRequests,
  replacedApiKeys,
  webhookPauseEnds,
  sendingBlockedAt,
  smsPutOff,
  storedColumns,
];
