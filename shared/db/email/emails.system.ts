import { idToBytes } from '../../formats/ids.ts';
import { emailLanes } from '../../schemas/lanes.ts';
import type { RowOf } from '../client/table.ts';
import { byId, query } from '../client.ts';
import { insertEvents } from '../events/events.system.ts';
import type { NewEventRecord } from '../events/events.ts';
import { claimer, claimUndoer, handoverStarter, leaseReturner } from '../work/claim.system.ts';
import { blockedSince } from '../work/message-admission.system.ts';
import { finisher, outcomeWriter } from '../work/outcomes.system.ts';
import { ofMessages, workTable } from '../work/table.system.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { type EmailRecord, emails, type StoredBody } from './emails.ts';

/** Emails as workers see them: how one is claimed, handed over and finished. */

export const emailTable = workTable(emails, {
  ...ofMessages,
  lanes: { field: 'kind', order: emailLanes },
  index: 'emails_admission',
  limit: {
    isSet: 'COALESCE(o.emails_per_minute, o.emails_per_hour, o.emails_per_day) IS NOT NULL',
    heldUntil: 'o.emails_held_until',
  },
});

export type ClaimedEmail = {
  record: EmailRecord;
  body: StoredBody | null;
  token: Buffer;
  /** The recipient is on the suppression list, for an email of this kind. */
  isSuppressed: boolean;
  /** Since when the operator has blocked the workspace's sending; null: it may send. */
  blockedSince: Date | null;
  /** The workspace has a limit on emails per minute, hour or day. */
  isLimited: boolean;
};

// Marketing never bypasses an opt-out, complaint or bounce of a recipient (API decisions §7).
const isSuppressed = `EXISTS (
  SELECT 1 FROM suppressions s WHERE s.workspace_id = emails.workspace_id AND s.email_key = emails.recipient_key
    AND (s.scope = 'all' OR emails.kind = 'marketing')
    AND (emails.bypass_suppressions = 0
      OR (emails.kind = 'marketing' AND s.source IN ('web', 'complaint', 'bounce'))))`;

type ClaimedEmailRow = RowOf<typeof emails> &
  ({ body_id: Buffer; attachment_count: number } | { body_id: null }) & {
    html: string | null;
    text: string | null;
    suppressed: number;
    blocked_since: Date | null;
    limited: number;
  };

export const claimEmail = claimer<ClaimedEmail, ClaimedEmailRow>(emailTable, {
  select: `SELECT emails.*, email_bodies.email_id AS body_id, html, text, attachment_count,
      ${isSuppressed} AS suppressed, ${blockedSince('o')} AS blocked_since,
      ${emailTable.limit.isSet} AS limited
    FROM emails LEFT JOIN email_bodies ON email_bodies.email_id = emails.id
    LEFT JOIN workspaces o ON o.id = emails.workspace_id`,
  toClaimed: (row, token) => ({
    record: emails.toRecord(row),
    body: row.body_id ? { html: row.html, text: row.text, attachmentCount: row.attachment_count } : null,
    token,
    isSuppressed: row.suppressed === 1,
    blockedSince: row.blocked_since,
    isLimited: row.limited === 1,
  }),
});
export const updateHandoverStarted = handoverStarter(emailTable, { firstAt: emails.pick('triedAt') });
export const updateHeldBack = leaseReturner(emailTable);
export const updateClaimUndone = claimUndoer(emailTable);

/** The outcome of a claimed email; the times in it are stored as given. */
type EmailOutcome = {
  email: EmailRecord;
  token: Buffer;
  events: NewEventRecord[];
  /** Further writes with it, in the same transaction; of several writes for one thing, `of`, the last is enough. */
  also?: { of: string; write: () => Promise<void> };
};

const outcome = emails.pick(
  'status',
  'reason',
  'updatedAt',
  'sentAt',
  'deliveredAt',
  'dueAt',
  'parked',
  'retries',
  'uncertainCount',
  'eventSeq',
);
const writeOutcomes = outcomeWriter(emailTable, outcome, { clears: emails.pick('handoverAt') });

/** Writes the outcome and its events, and gives the lease back; false, changing nothing, when the lease was lost. */
export const finishEmail = finisher<EmailOutcome>(emailTable, {
  leaseOf,
  laneOf: ({ email }) => email.kind,
  write: (items) => writeOutcomes(items.map((item) => ({ lease: leaseOf(item), record: item.email }))),
  also: async (items) => {
    await insertEvents(
      items.flatMap(({ email, events }) =>
        events.map((event) => ({ workspaceId: email.workspaceId, event })),
      ),
    );
    const also = new Map(items.flatMap(({ also }) => (also ? [[also.of, also.write] as const] : [])));
    for (const write of also.values()) await write();
    const ended = items.map(({ email }) => email).filter(({ status }) => status !== 'queued');
    for (const { workspaceId, storedBytes } of ended)
      await changeWaiting(workspaceId, { messages: -1, bytes: -storedBytes });
    if (ended.length > 0) await deleteBodies(ended.map(({ id }) => idToBytes(id)));
  },
});

function leaseOf({ email, token }: EmailOutcome) {
  return { id: email.id, token };
}

/**
 * Deletes the bodies. Without the hint the server reads and locks all of a small table, with the rows of open requests.
 */
async function deleteBodies(emailIds: Buffer[]): Promise<void> {
  await query(`DELETE b FROM email_bodies b ${byId} WHERE b.email_id IN (?)`, [emailIds]);
}
