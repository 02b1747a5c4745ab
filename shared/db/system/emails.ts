import { batcher } from '../../batcher.ts';
import { idToBytes, newUuid } from '../../formats/ids.ts';
import { fitting } from '../client/outside-text.ts';
import { byId, type Changed, outsideTransaction, query, sqlTime, transaction } from '../client.ts';
import { type EmailRecord, type StoredBody, toRecord } from '../emails.ts';
import type { NewEventRecord } from '../events.ts';
import { changeWaiting } from '../waiting-counts.ts';
import { insertEvents } from './events.ts';

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
type Claim = { emailId: string; at: Date; until: Date };

/**
 * Takes an email for this worker until the lease ends; null when it is not due or somebody else has it
 * (design rule 4). Claims of one moment share a statement and a token.
 */
export function claimEmail(claim: Claim): Promise<ClaimedEmail | null> {
  return outsideTransaction(() => claims(claim));
}

// What a recipient opted out of, complained about or bounced is never bypassed by marketing (contract §7).
const isSuppressed = `EXISTS (
  SELECT 1 FROM suppressions s WHERE s.workspace_id = emails.workspace_id AND s.email_key = emails.recipient_key
    AND (s.scope = 'all' OR emails.kind = 'marketing')
    AND (emails.bypass_suppressions = 0
      OR (emails.kind = 'marketing' AND s.source IN ('web', 'complaint', 'bounce'))))`;

const claims = batcher<Claim, ClaimedEmail | null>({
  maxItems: 50,
  maxInFlight: 4,
  run: async (items) => {
    const ids = items.map((item) => idToBytes(item.emailId));
    const { at, until } = items.at(-1)!;
    const token = newUuid(at);
    const { affectedRows } = await query<Changed>(
      `UPDATE emails ${byId} SET lease_token = ?, due_at = ?, parked = 0, claims = claims + 1
       WHERE id IN (?) AND status = 'queued' AND due_at <= ?`,
      [token, until, ids, at],
    );
    if (affectedRows === 0) return items.map(() => null);
    const rows = await query(
      `SELECT emails.*, email_bodies.email_id AS body_id, html, text, attachment_count, ${isSuppressed} AS suppressed,
         w.sending_blocked,
         COALESCE(w.emails_per_minute, w.emails_per_hour, w.emails_per_day) IS NOT NULL AS limited
       FROM emails LEFT JOIN email_bodies ON email_bodies.email_id = emails.id
       LEFT JOIN workspaces w ON w.id = emails.workspace_id WHERE emails.id IN (?) AND lease_token = ?`,
      [ids, token],
    );
    const claimed = new Map<string, ClaimedEmail>();
    for (const row of rows) {
      const body = row.body_id
        ? { html: row.html, text: row.text, attachmentCount: row.attachment_count }
        : null;
      const record = toRecord(row);
      claimed.set(record.id, {
        record,
        body,
        token,
        isSuppressed: row.suppressed === 1,
        isBlocked: row.sending_blocked === 1,
        isLimited: row.limited === 1,
      });
    }
    return items.map((item) => {
      const email = claimed.get(item.emailId) ?? null;
      // Two jobs for the same email in one batch: only the first may go on.
      claimed.delete(item.emailId);
      return email;
    });
  },
});

type Lease = { emailId: string; token: Buffer };

/**
 * Gives a claim back that came to nothing, because the workspace may not send now: the email waits in its row, in its
 * place among the others. What is lost meanwhile is ours no more, and stays as it is.
 */
export function updateHeldBack(lease: Lease & { at: Date }): Promise<void> {
  return outsideTransaction(() => heldBack(lease));
}

const heldBack = batcher<Lease & { at: Date }, void>({
  maxItems: 50,
  maxInFlight: 4,
  run: async (items) => {
    await query(
      `UPDATE emails ${byId} SET lease_token = NULL, parked = 1, claims = claims - 1,
         due_at = IF(retries = 0, COALESCE(scheduled_at, created_at), ?)
       WHERE id IN (?) AND lease_token IN (?)`,
      [items[0]!.at, items.map((item) => idToBytes(item.emailId)), items.map((item) => item.token)],
    );
    return items.map(() => undefined);
  },
});

type Handover = { emailId: string; token: Buffer; at: Date };

/**
 * Notes that the relay is about to be spoken to: if this worker dies from here on, nobody can know whether the
 * email went out. False when the lease is no longer ours.
 */
export function updateHandoverStarted(handover: Handover): Promise<boolean> {
  return outsideTransaction(() => handovers(handover));
}

const handovers = batcher<Handover, boolean>({
  maxItems: 50,
  maxInFlight: 4,
  run: async (items) => {
    const ids = items.map((item) => idToBytes(item.emailId));
    const tokens = items.map((item) => item.token);
    // A hand-over that was begun before and never finished is counted here, so that a second death is not forgotten.
    const { affectedRows } = await query<Changed>(
      `UPDATE emails ${byId} SET uncertain_count = uncertain_count + (handover_at IS NOT NULL), handover_at = ?,
         tried_at = COALESCE(tried_at, ?)
       WHERE id IN (?) AND lease_token IN (?)`,
      [items[0]!.at, items[0]!.at, ids, tokens],
    );
    if (affectedRows === items.length) return items.map(() => true);
    const owned = await ownedEmails(ids, tokens);
    return items.map((item) => isOwned(owned, item));
  },
});

/** What becomes of a claimed email; times are kept as they are given. */
export type EmailOutcome = {
  email: EmailRecord;
  token: Buffer;
  events: NewEventRecord[];
  /** The body is needed no more. */
  isFinal: boolean;
  /** What else is to be written with it, in the same transaction. */
  also?: () => Promise<void>;
};

/** Writes the outcome and its events, and gives the lease back; false, changing nothing, when the lease was lost. */
export function finishEmail(outcome: EmailOutcome): Promise<boolean> {
  return outsideTransaction(() => outcomes(outcome));
}

const outcomes = batcher<EmailOutcome, boolean>({
  maxItems: 50,
  maxInFlight: 4,
  run: (items) =>
    transaction(async () => {
      const ids = items.map((item) => idToBytes(item.email.id));
      const owned = await ownedEmails(
        ids,
        items.map((item) => item.token),
      );
      const results = items.map((item) => isOwned(owned, { emailId: item.email.id, token: item.token }));
      const mine = items.filter((_, index) => results[index]);
      if (mine.length === 0) return results;
      await updateOutcomes(mine);
      await insertEvents(
        mine.flatMap(({ email, events }) =>
          events.map((event) => ({ workspaceId: email.workspaceId, event })),
        ),
      );
      for (const { also } of mine) await also?.();
      for (const { email } of mine)
        if (email.status !== 'queued')
          await changeWaiting(email.workspaceId, { messages: -1, bytes: -email.storedBytes });
      const done = mine.filter((item) => item.isFinal).map((item) => idToBytes(item.email.id));
      if (done.length > 0) await deleteBodies(done);
      return results;
    }),
});

async function updateOutcomes(items: EmailOutcome[]): Promise<void> {
  const changes = items.map(({ email }) => ({
    id: idToBytes(email.id).toString('hex'),
    status: email.status,
    category: email.reason?.category ?? null,
    code: fitting('emails.reason_code', email.reason?.code ?? null),
    description: fitting('emails.reason_description', email.reason?.description ?? null),
    retryable: email.reason ? Number(email.reason.retryable) : null,
    updated: sqlTime(email.updatedAt),
    sent: sqlTime(email.sentAt),
    delivered: sqlTime(email.deliveredAt),
    due: sqlTime(email.dueAt),
    parked: Number(email.parked),
    retries: email.retries,
    uncertain: email.uncertainCount,
    seq: email.eventSeq,
  }));
  await query(
    `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
        id CHAR(32) PATH '$.id', status VARCHAR(10) PATH '$.status', category VARCHAR(20) PATH '$.category',
        code VARCHAR(40) PATH '$.code', description VARCHAR(1000) PATH '$.description',
        retryable TINYINT PATH '$.retryable', updated DATETIME(3) PATH '$.updated', sent DATETIME(3) PATH '$.sent',
        delivered DATETIME(3) PATH '$.delivered', due DATETIME(3) PATH '$.due', parked TINYINT PATH '$.parked',
        retries INT PATH '$.retries', uncertain INT PATH '$.uncertain', seq INT PATH '$.seq')) AS change_of
     STRAIGHT_JOIN emails ${byId} ON emails.id = UNHEX(change_of.id)
     SET emails.status = change_of.status, reason_category = category, reason_code = code,
       reason_description = description, reason_retryable = change_of.retryable, updated_at = updated,
       sent_at = sent, delivered_at = delivered, due_at = due, emails.parked = change_of.parked,
       emails.retries = change_of.retries, uncertain_count = uncertain, event_seq = seq,
       lease_token = NULL, handover_at = NULL`,
    [JSON.stringify(changes)],
  );
}

/** Joined from the ids: an IN list on a small table made the optimizer lock all of it, open requests' rows included. */
async function deleteBodies(emailIds: Buffer[]): Promise<void> {
  await query(
    `DELETE email_bodies FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) PATH '$')) AS gone
     STRAIGHT_JOIN email_bodies ${byId} ON email_bodies.email_id = UNHEX(gone.id)`,
    [JSON.stringify(emailIds.map((id) => id.toString('hex')))],
  );
}

async function ownedEmails(ids: Buffer[], tokens: Buffer[]): Promise<Set<string>> {
  const rows = await query(
    `SELECT id, lease_token FROM emails ${byId} WHERE id IN (?) AND lease_token IN (?) FOR UPDATE`,
    [ids, tokens],
  );
  return new Set(rows.map((row) => row.id.toString('hex') + row.lease_token.toString('hex')));
}

function isOwned(owned: Set<string>, item: { emailId: string; token: Buffer }): boolean {
  return owned.has(idToBytes(item.emailId).toString('hex') + item.token.toString('hex'));
}
