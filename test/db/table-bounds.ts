/**
 * Every table, and what keeps it from growing without end:
 * `passing` rows are deleted when their time is over, by the job purge-expired (shared/domain/retention.ts);
 * `work` rows go with the piece of work that they are for;
 * `capped` rows are as many as a limit of the contract allows a workspace, or as its one row needs;
 * `kept` rows are what customers or the operator have stored, and stay until they delete them.
 */
type Bound = { kind: 'passing' | 'work' | 'capped' | 'kept'; by: string };

export const tableBounds: Record<string, Bound> = {
  api_keys: {
    kind: 'capped',
    by: '500 for each workspace, with those that have expired; tokens: the operator',
  },
  business_profiles: { kind: 'kept', by: 'the operator makes them' },
  clock: { kind: 'capped', by: 'one row' },
  contact_counts: { kind: 'kept', by: 'a few rows for each tag in use; deleted at nought' },
  contact_list_copies: { kind: 'passing', by: 'an hour after the copy is over' },
  contact_list_counts: { kind: 'capped', by: 'one row for each workspace' },
  contact_list_members: { kind: 'kept', by: 'with their list, or their contact' },
  contact_list_removals: { kind: 'passing', by: 'when the members of the list are gone' },
  contact_lists: { kind: 'capped', by: '1,000 for each workspace' },
  contact_tags: { kind: 'kept', by: 'with their contact' },
  contact_words: { kind: 'kept', by: 'with their contact' },
  contacts: { kind: 'kept', by: 'the customer deletes them' },
  counters: { kind: 'capped', by: 'one row for each counter' },
  email_attachment_chunks: { kind: 'passing', by: 'at hand-over; what a crash left, when its body is gone' },
  email_attachments: { kind: 'passing', by: 'at hand-over; what a crash left, when its body is gone' },
  email_bodies: { kind: 'work', by: 'at hand-over, failure or cancellation, in the same transaction' },
  email_domains: { kind: 'capped', by: '50 for each workspace' },
  email_include_uses: { kind: 'kept', by: 'with their template or include' },
  email_includes: { kind: 'capped', by: '200 for each workspace' },
  email_sendings: { kind: 'capped', by: '61 slots for each of three periods of a workspace' },
  email_templates: { kind: 'capped', by: '1,000 for each workspace' },
  email_test_links: { kind: 'passing', by: '25 hours' },
  email_test_recipients: { kind: 'capped', by: '100 for each workspace' },
  emails: { kind: 'passing', by: 'EMAIL_RETENTION_DAYS' },
  event_marks: { kind: 'passing', by: 'a day longer than the events' },
  events: { kind: 'passing', by: 'EVENT_RETENTION_DAYS and an hour' },
  idempotency_records: { kind: 'passing', by: '24 hours' },
  key_usage: { kind: 'capped', by: 'one row for each key with its rotations; deleted with the last of them' },
  request_nonces: { kind: 'passing', by: 'the window of a signature' },
  sender_code_counts: { kind: 'passing', by: '25 hours' },
  sender_countries: { kind: 'capped', by: 'the countries of a sender, with their sender' },
  sender_rejections: { kind: 'kept', by: 'one row for each name and country that the operator has rejected' },
  senders: { kind: 'capped', by: '500 for each workspace' },
  short_link_totals: { kind: 'passing', by: 'when the texts of their batch are gone' },
  short_links: { kind: 'passing', by: 'when their text is gone' },
  simulator_answers: { kind: 'work', by: 'deleted when the phone has answered, after SIMULATOR_SECONDS' },
  simulator_messages: { kind: 'passing', by: 'SMS_RETENTION_DAYS' },
  simulator_phones: { kind: 'passing', by: 'when their last text is gone' },
  sms_balances: { kind: 'capped', by: 'one row for each workspace' },
  sms_ledger: {
    kind: 'passing',
    by: 'entries of messages that are gone are put together into one for each workspace; credits stay',
  },
  sms_messages: { kind: 'passing', by: 'SMS_RETENTION_DAYS' },
  sms_prices: { kind: 'kept', by: 'the operator loads them' },
  sms_receipts_unmatched: { kind: 'passing', by: 'EVENT_RETENTION_DAYS and an hour' },
  sms_templates: { kind: 'capped', by: '1,000 for each workspace' },
  suppressions: { kind: 'kept', by: 'they must outlive all else; the customer deletes them' },
  waiting_counts: { kind: 'capped', by: '32 rows for each workspace' },
  webhook_attempts: { kind: 'passing', by: 'EVENT_RETENTION_DAYS and an hour' },
  webhook_deliveries: { kind: 'passing', by: 'EVENT_RETENTION_DAYS and an hour' },
  webhook_hosts: { kind: 'work', by: 'a host that was not tried for a day, by webhook-health' },
  webhook_settlements: { kind: 'work', by: 'one row for each webhook and kind; deleted when it is done' },
  webhooks: { kind: 'capped', by: '100 for each workspace' },
  workspaces: { kind: 'kept', by: 'the operator makes them' },
};
