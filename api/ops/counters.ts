import { config } from '../../shared/config/config.ts';
import { batchLanes, emailLanes, smsLanes } from '../../shared/schemas/lanes.ts';
import { PausedReason } from '../../shared/schemas/sms/batches.ts';

/** Null: the values are not known before they are counted. */
export type LabelValues = readonly string[] | (() => readonly string[]) | null;
type CounterOf = {
  help: string;
  labels?: Record<string, LabelValues>;
  /**
   * The unit of one count, as a part of the shown unit: totals are whole numbers, so seconds are counted in
   * microseconds.
   */
  countedIn?: number;
};

const gateways = () => config.SMS_GATEWAYS?.map(({ name }) => name) ?? [];

/**
 * The help and the labels of each counter. Where all values of the labels are known, each of them is shown as 0 before
 * its first count: otherwise an alert on an increase would miss that count.
 */
export const counters: Record<string, CounterOf> = {
  requests: {
    help: 'Requests by operation and class of status. Operation health: health checks; other: pages and unknown paths. Status gone: the client closed the connection before the answer',
    labels: { operation: null, status: null },
  },
  request_seconds: {
    help: 'Time from the start of a request until its answer was sent, including the time that its body took to arrive',
    labels: { operation: null },
    countedIn: 1e-6,
  },
  emails_accepted: { help: 'Emails accepted by the API', labels: { kind: emailLanes } },
  emails_sent: { help: 'Emails that the relay took', labels: { kind: emailLanes } },
  emails_failed: { help: 'Emails that failed permanently', labels: { kind: emailLanes } },
  email_opens: { help: 'Loads of tracking images that were counted' },
  email_opens_lost: { help: 'Loads of tracking images that were not counted because of a fault' },
  emails_parked: {
    help: 'New emails that found no room in Redis and wait in MySQL',
    labels: { kind: emailLanes },
  },
  emails_admitted: { help: 'Waiting emails moved to Redis when it had room', labels: { kind: emailLanes } },
  emails_held_back: {
    help: 'Jobs that put an email off without an attempt, because of a sending limit or because sending is blocked',
  },
  emails_put_off: { help: 'Emails put off without an attempt, because no connection came free in time' },
  relay_pauses: { help: 'Pauses of a process because the relay could not be used' },
  relay_workspace_pauses: {
    help: 'Pauses of the emails of one workspace, because the relay fell silent or broke off at them',
  },
  emails_retried: {
    help: 'Attempts after which the email waits for another attempt',
    labels: { kind: emailLanes },
  },
  sandbox_jobs: {
    help: 'Renders of Liquid, compilations of MJML and mails parsed in the sandbox; busy: given up after too long a wait',
    labels: { program: ['liquid', 'mjml', 'mail'], outcome: ['done', 'failed', 'busy'] },
  },
  sandbox_kills: {
    help: 'Threads and processes of the sandbox that ended during a job, because it took too much time or memory or crashed them',
    labels: { program: ['liquid', 'mjml', 'mail'] },
  },
  mjml_compiles: { help: 'MJML sources compiled; a source whose result is cached does not count' },
  waiting_refused: {
    help: 'Messages refused because their workspace has reached its limit of waiting messages or bytes',
    labels: { limit: ['messages', 'bytes'] },
  },
  sms_accepted: { help: 'Text messages accepted by the API', labels: { status: ['queued', 'held'] } },
  sms_sent: { help: 'Text messages that a gateway took' },
  sms_failed: { help: 'Text messages that failed before a gateway took them, as far as is known' },
  sms_retried: { help: 'Attempts after which the text message waits for another attempt' },
  sms_parked: {
    help: 'Accepted text messages that wait in MySQL for room in Redis',
    labels: { lane: smsLanes },
  },
  sms_admitted: { help: 'Waiting text messages moved to Redis when it had room', labels: { lane: smsLanes } },
  sms_held_back: { help: 'Jobs that put a text message off without an attempt, because sending is blocked' },
  sms_released: { help: 'Held text messages that could be paid for' },
  sms_receipts: {
    help: 'Receipts of gateways that were applied',
    labels: { outcome: ['delivered', 'failed'] },
  },
  sms_stop_replies: {
    help: 'Incoming STOP texts to a workspace with a STOP reply, by whether the reply was sent',
    labels: { outcome: ['accepted', 'repeated', 'unpaid', 'no_way'] },
  },
  sms_received: { help: 'Text messages that came in' },
  sms_gateway_brought_forward: {
    help: 'Texts that were put off because of a gateway, and were made due at once because it takes texts again',
    labels: { gateway: gateways },
  },
  sms_gateway_losses: {
    help: 'Connections to gateways that were lost or could not be made (line), and binds that the gateway refused (refused)',
    labels: { gateway: gateways, kind: ['line', 'refused'] },
  },
  sms_gateway_pauses: {
    help: 'Pauses of a process because a gateway did not answer, or put off all texts',
    labels: { gateway: gateways },
  },
  sms_gateway_workspace_pauses: {
    help: 'Pauses of a process for the texts of one workspace, because a gateway did not answer them, or put them off',
    labels: { gateway: gateways },
  },
  sms_gateway_put_off: {
    help: 'Receipts and texts that could not be stored, so the gateway must send them again',
    labels: { gateway: gateways },
  },
  sms_gateway_receipts: {
    help: 'Receipts of gateways by HTTP; unknown: its text is not known; repeated: the gateway sent it before',
    labels: { gateway: gateways, outcome: ['applied', 'unknown', 'repeated'] },
  },
  sms_gateway_refusals: {
    help: 'Messages that a gateway did not take, by its command_status where SMPP 3.4 names it, or its HTTP status',
    labels: { gateway: gateways, status: null },
  },
  sms_gateway_unread: {
    help: 'Receipts of gateways that cannot be read, and other messages that were refused because they cannot be decoded',
    labels: { gateway: gateways, what: ['receipt', 'message'] },
  },
  sms_gateway_floods: {
    help: 'Receipts and texts that came while the process still handled 200, so the gateway must send them again',
    labels: { gateway: gateways },
  },
  sms_inbound_unmatched: {
    help: 'Text messages that came for a number of no workspace, or from a sender that cannot be answered',
    labels: { gateway: gateways, what: ['recipient', 'sender'] },
  },
  sms_inbound_cut: {
    help: 'Incoming text messages that were too long, and were stored without their end',
    labels: { gateway: gateways },
  },
  sms_inbound_repeated: {
    help: 'Incoming text messages that a gateway sent again, because it got no answer that they are stored',
    labels: { gateway: gateways },
  },
  short_link_visits: {
    help: 'Requests for short links; those of link previewers and crawlers (bot) are sent on and not counted as clicks',
    labels: { outcome: ['click', 'bot', 'head', 'unknown', 'blocked', 'refused'] },
  },
  short_link_clicks: { help: 'Clicks of short links that were written' },
  short_link_clicks_lost: { help: 'Clicks that were not counted because the database was away for too long' },
  batches_accepted: {
    help: 'Batches of texts accepted by the API',
    labels: { source: ['messages', 'lists', 'file'] },
  },
  batches_admitted: { help: 'Waiting batches moved to Redis when it had room', labels: { lane: batchLanes } },
  batches_paused: {
    help: 'Pauses of batches',
    labels: { reason: PausedReason.options },
  },
  batches_completed: { help: 'Batches of which every message has its final status' },
  batch_messages: { help: 'Messages made of rows of batches' },
  contact_searches_ended: {
    help: 'Searches of contacts that ended early; refused: the workspace had too many at once; abandoned: the client had closed the connection',
    labels: { reason: ['refused', 'abandoned'] },
  },
  webhook_attempts: {
    help: 'Attempts to deliver to a webhook, by outcome',
    labels: {
      outcome: [
        'delivered',
        'http_status',
        'timeout',
        'connection',
        'dns',
        'tls',
        'blocked_address',
        'skipped',
      ],
    },
  },
  webhook_deliveries_admitted: { help: 'Deliveries moved to Redis, by the event relay or when it had room' },
  webhook_deliveries_parked: { help: 'New deliveries that found no room in Redis and wait in MySQL' },
  webhook_deliveries_handed_back: {
    help: 'Jobs that put a delivery off without an attempt, because its webhook was too slow or had changed',
  },
  webhook_deliveries_settled: {
    help: 'Deliveries skipped or sent again in batches',
    labels: { kind: ['skip', 'recover'] },
  },
  own_faults: {
    help: 'Messages and deliveries delayed by a fault of the platform, such as a secret that cannot be decrypted',
    labels: { work: ['email', 'sms', 'webhook_delivery'] },
  },
  webhook_notes_lost: { help: 'Results of attempts that were not counted in the health of their webhook' },
  webhook_warnings: { help: 'Warnings of webhooks that fail, one per outage' },
  webhook_switch_offs: { help: 'Webhooks switched off after continuous failure' },
  contacts_copied: { help: 'Contacts added to a list by copies of other lists' },
  sender_codes: {
    help: 'Codes that verify a number as a sender, by whether the gateway took the text',
    labels: { outcome: ['accepted', 'refused', 'later', 'unavailable'] },
  },
  email_domain_checks: {
    help: 'Checks of the DKIM record of a sending domain; trouble: the name servers gave no answer',
    labels: { result: ['seen', 'not_seen', 'trouble'] },
  },
  email_domain_changes: {
    help: 'Changes of the status of sending domains, by the new one',
    labels: { status: ['verified', 'warning', 'failed'] },
  },
  email_reports: {
    help: 'Incoming messages, by outcome; refused: too complex to parse; deferred: the sender must try again',
    labels: {
      outcome: [
        'changed',
        'unchanged',
        'unknown_email',
        'other_recipient',
        'no_report',
        'unreadable',
        'refused',
        'deferred',
      ],
    },
  },
  inbound_refusals: {
    help: 'Recipients and connections that the inbound process has refused; commands: it was given too many',
    labels: { reason: ['recipient', 'connections', 'commands'] },
  },
  system_mails_left_out: {
    help: 'Emails of the platform itself that were not sent because SYSTEM_SENDER or an alert address is missing',
    labels: { reason: ['no_sender', 'no_recipient'] },
  },
  events_relayed: { help: 'Events that were numbered and fanned out' },
  report_events: { help: 'Events that were counted for the reports' },
  smtp_faults: {
    help: 'Hand-overs that the relay did not answer, or that did not reach it',
    labels: { reason: ['dns', 'connection', 'greeting', 'tls', 'login', 'timeout'] },
  },
  job_faults: {
    help: 'Jobs that met an unexpected fault',
    labels: { job: ['send-email', 'deliver-webhook'] },
  },
  crash_loops: {
    help: 'Messages, rows and deliveries given up because each worker that processed them died: something in them kills workers',
    labels: { work: ['email', 'sms', 'batch_row', 'webhook_delivery'] },
  },
  jobs_left: {
    help: 'Runs of jobs that a worker does not understand, from another version; a job is dropped after an hour',
  },
  wake_ups_failed: { help: 'Jobs that could not be added to Redis; the sweep adds them later' },
  wake_ups_dropped: { help: 'Jobs left to the sweep, because too many were being added to Redis' },
  purge_runs: { help: 'Runs that deleted old data of every kind; if this stops, old data stays' },
  sweep_runs: { help: 'Runs of the sweep; if this stops, lost jobs stay lost' },
};
