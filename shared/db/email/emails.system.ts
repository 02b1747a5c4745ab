import { idToBytes } from '../../formats/ids.ts';
import { emailLanes } from '../../schemas/lanes.ts';
import { fitting } from '../client/outside-text.ts';
import { byId, query, sqlTime } from '../client.ts';
import { insertEvents } from '../events/events.system.ts';
import type { NewEventRecord } from '../events/events.ts';
import { claimer, handoverStarter, leaseReturner } from '../work/claim.system.ts';
import { messageTable } from '../work/message-admission.system.ts';
import { finisher, outcomeWriter } from '../work/outcomes.system.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { type EmailKind, type EmailRecord, type StoredBody, toRecord } from './emails.ts';

export const emailTable = messageTable<EmailKind>({
  name: 'emails',
  prefix: 'email',
  lanes: { column: 'kind', order: emailLanes },
  index: 'emails_admission',
});

export type ClaimedEmail = {
  record: EmailRecord;
  body: StoredBody | null;
  token: Buffer;
  /** The recipient is on the suppression list, for an email of this kind. */
  isSuppressed: boolean;
  /** The operator has blocked the workspace's sending. */
  isBlocked: boolean;
  /** So many may go out in a time, and no more. */
  isLimited: boolean;
};

// Marketing never bypasses an opt-out, complaint or bounce of a recipient (API decisions §7).
const isSuppressed = `EXISTS (
  SELECT 1 FROM suppressions s WHERE s.workspace_id = emails.workspace_id AND s.email_key = emails.recipient_key
    AND (s.scope = 'all' OR emails.kind = 'marketing')
    AND (emails.bypass_suppressions = 0
      OR (emails.kind = 'marketing' AND s.source IN ('web', 'complaint', 'bounce'))))`;

export const claimEmail = claimer<ClaimedEmail>(emailTable, {
  select: `SELECT emails.*, email_bodies.email_id AS body_id, html, text, attachment_count,
      ${isSuppressed} AS suppressed, w.sending_blocked,
      COALESCE(w.emails_per_minute, w.emails_per_hour, w.emails_per_day) IS NOT NULL AS limited
    FROM emails LEFT JOIN email_bodies ON email_bodies.email_id = emails.id
    LEFT JOIN workspaces w ON w.id = emails.workspace_id`,
  toClaimed: (row, token) => ({
    record: toRecord(row),
    body: row.body_id ? { html: row.html, text: row.text, attachmentCount: row.attachment_count } : null,
    token,
    isSuppressed: row.suppressed === 1,
    isBlocked: row.sending_blocked === 1,
    isLimited: row.limited === 1,
  }),
});
export const updateHandoverStarted = handoverStarter(emailTable, { firstAt: 'tried_at' });
export const updateHeldBack = leaseReturner(emailTable);

/** The outcome of a claimed email; times are kept as they are given. */
export type EmailOutcome = {
  email: EmailRecord;
  token: Buffer;
  events: NewEventRecord[];
  /** The body is needed no more. */
  isFinal: boolean;
  /** Further writes with it, in the same transaction. */
  also?: () => Promise<void>;
};

const writeOutcomes = outcomeWriter(
  emailTable,
  {
    status: {},
    reason_category: {},
    reason_code: {},
    reason_description: {},
    reason_retryable: {},
    updated_at: {},
    sent_at: {},
    delivered_at: {},
    due_at: {},
    parked: {},
    retries: {},
    uncertain_count: {},
    event_seq: {},
  },
  ['handover_at'],
);

function changesOf({ reason, ...email }: EmailRecord) {
  return {
    status: email.status,
    reason_category: reason?.category ?? null,
    reason_code: fitting('emails.reason_code', reason?.code ?? null),
    reason_description: fitting('emails.reason_description', reason?.description ?? null),
    reason_retryable: reason ? Number(reason.retryable) : null,
    updated_at: sqlTime(email.updatedAt),
    sent_at: sqlTime(email.sentAt),
    delivered_at: sqlTime(email.deliveredAt),
    due_at: sqlTime(email.dueAt),
    parked: Number(email.parked),
    retries: email.retries,
    uncertain_count: email.uncertainCount,
    event_seq: email.eventSeq,
  };
}

/** Writes the outcome and its events, and gives the lease back; false, changing nothing, when the lease was lost. */
export const finishEmail = finisher<EmailOutcome>(emailTable, {
  leaseOf,
  write: (items) =>
    writeOutcomes(items.map((item) => ({ lease: leaseOf(item), values: changesOf(item.email) }))),
  also: async (items) => {
    await insertEvents(
      items.flatMap(({ email, events }) =>
        events.map((event) => ({ workspaceId: email.workspaceId, event })),
      ),
    );
    for (const { also } of items) await also?.();
    for (const { email } of items)
      if (email.status !== 'queued')
        await changeWaiting(email.workspaceId, { messages: -1, bytes: -email.storedBytes });
    const done = items.filter((item) => item.isFinal).map((item) => idToBytes(item.email.id));
    if (done.length > 0) await deleteBodies(done);
  },
});

function leaseOf({ email, token }: EmailOutcome) {
  return { id: email.id, token };
}

/** By the hint: without it the server read, and locked, all of a small table, open requests' rows included. */
async function deleteBodies(emailIds: Buffer[]): Promise<void> {
  await query(`DELETE b FROM email_bodies b ${byId} WHERE b.email_id IN (?)`, [emailIds]);
}
