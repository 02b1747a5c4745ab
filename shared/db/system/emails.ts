import { batcher } from '../../batcher.ts';
import { idToBytes, newUuid } from '../../formats/ids.ts';
import { byId, type Changed, outsideTransaction, query, sqlTime, transaction } from '../client.ts';
import { type EmailBody, type EmailKind, type EmailRecord, toRecord } from '../emails.ts';
import type { NewEventRecord } from '../events.ts';
import { insertEvents } from './events.ts';

export type ClaimedEmail = {
  record: EmailRecord;
  body: EmailBody | null;
  token: Buffer;
  /** The recipient is on the suppression list, for an email of this kind. */
  isSuppressed: boolean;
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
      `SELECT emails.*, email_bodies.email_id AS body_id, html, text, ${isSuppressed} AS suppressed FROM emails
       LEFT JOIN email_bodies ON email_bodies.email_id = emails.id WHERE emails.id IN (?) AND lease_token = ?`,
      [ids, token],
    );
    const claimed = new Map<string, ClaimedEmail>();
    for (const row of rows) {
      const body = row.body_id ? { html: row.html, text: row.text } : null;
      const record = toRecord(row);
      claimed.set(record.id, { record, body, token, isSuppressed: row.suppressed === 1 });
    }
    return items.map((item) => {
      const email = claimed.get(item.emailId) ?? null;
      // Two jobs for the same email in one batch: only the first may go on.
      claimed.delete(item.emailId);
      return email;
    });
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
      `UPDATE emails ${byId} SET uncertain_count = uncertain_count + (handover_at IS NOT NULL), handover_at = ?
       WHERE id IN (?) AND lease_token IN (?)`,
      [items[0]!.at, ids, tokens],
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
    code: email.reason?.code ?? null,
    description: email.reason?.description ?? null,
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

export type DueEmail = { id: string; dueAt: Date; claims: number; requestId: string | null };

/** Emails that have been due for a while: their job was lost, or their worker died. Longest due first. */
export async function listOverdueEmails(
  kind: EmailKind,
  dueBefore: Date,
  limit: number,
): Promise<DueEmail[]> {
  return listDue(kind, false, dueBefore, limit);
}

/** Emails without a job whose time has come near. */
export async function listParkedEmails(kind: EmailKind, dueBefore: Date, limit: number): Promise<DueEmail[]> {
  return listDue(kind, true, dueBefore, limit);
}

async function listDue(
  kind: EmailKind,
  parked: boolean,
  dueBefore: Date,
  limit: number,
): Promise<DueEmail[]> {
  const rows = await query(
    `SELECT * FROM emails WHERE status = 'queued' AND kind = ? AND parked = ? AND due_at <= ?
     ORDER BY due_at LIMIT ?`,
    [kind, parked, dueBefore, limit],
  );
  return rows
    .map(toRecord)
    .map(({ id, dueAt, claims, requestId }) => ({ id, dueAt: dueAt!, claims, requestId }));
}

/** Marks that these have a job in Redis now. */
export async function updateEmailsUnparked(emailIds: string[]): Promise<void> {
  if (emailIds.length > 0)
    await query(`UPDATE emails ${byId} SET parked = 0 WHERE id IN (?)`, [emailIds.map(idToBytes)]);
}

/** Since when the email that waits longest has been due; null when none is. */
export async function findOldestDueEmail(kind: EmailKind, at: Date): Promise<Date | null> {
  const [row] = await query(
    `SELECT MIN(due_at) AS due FROM emails WHERE status = 'queued' AND kind = ? AND parked IN (0, 1) AND due_at <= ?`,
    [kind, at],
  );
  return row?.due ?? null;
}
