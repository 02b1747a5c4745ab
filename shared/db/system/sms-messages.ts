import { batcher } from '../../batcher.ts';
import { firstUuidAt, idFromBytes, idToBytes, newUuid } from '../../formats/ids.ts';
import { fitting } from '../client/outside-text.ts';
import { byId, type Changed, execute, outsideTransaction, query, type Row, sqlTime } from '../client.ts';
import { type SmsRecord, toRecord } from '../sms-messages.ts';

export type ClaimedSms = {
  record: SmsRecord;
  token: Buffer;
  /** The recipient is on the suppression list. */
  isSuppressed: boolean;
  /** The operator has blocked the workspace's sending. */
  isBlocked: boolean;
};
type Claim = { smsId: string; at: Date; until: Date };

/**
 * Takes a message for this worker until the lease ends; null when it is not due or somebody else has it
 * (design rule 4). Claims of one moment share a statement and a token.
 */
export function claimSms(claim: Claim): Promise<ClaimedSms | null> {
  return outsideTransaction(() => claims(claim));
}

const isSuppressed = `EXISTS (SELECT 1 FROM suppressions s
  WHERE s.workspace_id = sms_messages.workspace_id AND s.number = sms_messages.recipient)`;

const claims = batcher<Claim, ClaimedSms | null>({
  maxItems: 50,
  maxInFlight: 4,
  run: async (items) => {
    const ids = items.map((item) => idToBytes(item.smsId));
    const { at, until } = items.at(-1)!;
    const token = newUuid(at);
    const { affectedRows } = await query<Changed>(
      `UPDATE sms_messages ${byId} SET lease_token = ?, due_at = ?, parked = 0, claims = claims + 1
       WHERE id IN (?) AND status = 'queued' AND due_at <= ?`,
      [token, until, ids, at],
    );
    if (affectedRows === 0) return items.map(() => null);
    const rows = await query(
      `SELECT sms_messages.*, ${isSuppressed} AS suppressed, w.sending_blocked FROM sms_messages
       LEFT JOIN workspaces w ON w.id = sms_messages.workspace_id
       WHERE sms_messages.id IN (?) AND lease_token = ?`,
      [ids, token],
    );
    const claimed = new Map<string, ClaimedSms>();
    for (const row of rows) {
      const record = toRecord(row);
      claimed.set(record.id, {
        record,
        token,
        isSuppressed: row.suppressed === 1,
        isBlocked: row.sending_blocked === 1,
      });
    }
    return items.map((item) => {
      const message = claimed.get(item.smsId) ?? null;
      // Two jobs for the same message in one batch: only the first may go on.
      claimed.delete(item.smsId);
      return message;
    });
  },
});

type Lease = { smsId: string; token: Buffer };

/**
 * Notes that the gateway is about to be spoken to: if this worker dies from here on, nobody can know whether the
 * message went out. False when the lease is no longer ours.
 */
export function updateSmsHandoverStarted(handover: Lease & { at: Date }): Promise<boolean> {
  return outsideTransaction(() => handovers(handover));
}

const handovers = batcher<Lease & { at: Date }, boolean>({
  maxItems: 50,
  maxInFlight: 4,
  run: async (items) => {
    const { affectedRows } = await query<Changed>(
      // A hand-over that was begun before and never finished is counted here, so that a second death is not forgotten.
      `UPDATE sms_messages ${byId} SET uncertain_count = uncertain_count + (handover_at IS NOT NULL), handover_at = ?
       WHERE id IN (?) AND lease_token IN (?)`,
      [items[0]!.at, items.map(({ smsId }) => idToBytes(smsId)), items.map(({ token }) => token)],
    );
    if (affectedRows === items.length) return items.map(() => true);
    const isOwned = await findOwned(items);
    return items.map(isOwned);
  },
});

/** Tells which of these leases are still held, and locks their rows in a transaction. */
export async function findOwned(leases: Lease[]): Promise<(lease: Lease) => boolean> {
  const rows = await query(
    `SELECT id, lease_token FROM sms_messages ${byId} WHERE id IN (?) AND lease_token IN (?) FOR UPDATE`,
    [leases.map(({ smsId }) => idToBytes(smsId)), leases.map(({ token }) => token)],
  );
  const owned = new Set(rows.map((row) => row.id.toString('hex') + row.lease_token.toString('hex')));
  return ({ smsId, token }) => owned.has(idToBytes(smsId).toString('hex') + token.toString('hex'));
}

/** Writes what became of claimed messages and gives their leases back; the rows must be locked by `findOwned`. */
export async function updateSmsOutcomes(messages: SmsRecord[]): Promise<void> {
  const changes = messages.map((message) => ({
    id: idToBytes(message.id).toString('hex'),
    status: message.status,
    category: message.reason?.category ?? null,
    code: fitting('sms_messages.reason_code', message.reason?.code ?? null),
    description: fitting('sms_messages.reason_description', message.reason?.description ?? null),
    retryable: message.reason ? Number(message.reason.retryable) : null,
    updated: sqlTime(message.updatedAt),
    sent: sqlTime(message.sentAt),
    due: sqlTime(message.dueAt),
    parked: Number(message.parked),
    retries: message.retries,
    uncertain: message.uncertainCount,
    gateway: message.gateway,
    reference: fitting('sms_messages.gateway_reference', message.gatewayReference),
    seq: message.eventSeq,
  }));
  await query(
    `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
        id CHAR(32) PATH '$.id', status VARCHAR(10) PATH '$.status', category VARCHAR(16) PATH '$.category',
        code VARCHAR(40) PATH '$.code', description VARCHAR(1000) PATH '$.description',
        retryable TINYINT PATH '$.retryable', updated DATETIME(3) PATH '$.updated', sent DATETIME(3) PATH '$.sent',
        due DATETIME(3) PATH '$.due', parked TINYINT PATH '$.parked', retries INT PATH '$.retries',
        uncertain INT PATH '$.uncertain', gateway VARCHAR(20) PATH '$.gateway',
        reference VARCHAR(64) PATH '$.reference', seq INT PATH '$.seq')) AS change_of
     STRAIGHT_JOIN sms_messages ${byId} ON sms_messages.id = UNHEX(change_of.id)
     SET sms_messages.status = change_of.status, reason_category = category, reason_code = code,
       reason_description = description, reason_retryable = change_of.retryable, updated_at = updated,
       sent_at = sent, due_at = due, sms_messages.parked = change_of.parked,
       sms_messages.retries = change_of.retries, uncertain_count = uncertain,
       sms_messages.gateway = change_of.gateway, gateway_reference = reference, event_seq = seq,
       lease_token = NULL, handover_at = NULL`,
    [JSON.stringify(changes)],
  );
}

export type WaitingSms = {
  id: string;
  dueAt: Date;
  claims: number;
  requestId: string | null;
  /** A worker had it in hand when its lease ended. */
  isLeft: boolean;
};

/** Messages to be sent that are due before then, the longest due first. */
export async function listDueSms(parked: boolean, dueBefore: Date, limit: number): Promise<WaitingSms[]> {
  const rows = await query(
    `SELECT id, due_at, claims, request_id, lease_token IS NOT NULL AS is_left FROM sms_messages FORCE INDEX (sms_due)
     WHERE status = 'queued' AND parked = ? AND due_at <= ? ORDER BY due_at LIMIT ?`,
    [parked, dueBefore, limit],
  );
  return rows.map((row) => ({
    id: idFromBytes('sms', row.id),
    dueAt: row.due_at,
    claims: row.claims,
    requestId: row.request_id?.toString() ?? null,
    isLeft: row.is_left === 1,
  }));
}

/** Since when the message that waits longest has been due; null when there is none. */
export async function findOldestDueSms(at: Date): Promise<Date | null> {
  const rows = await Promise.all([0, 1].map((parked) => listDueSms(parked === 1, at, 1)));
  const [first] = rows.flat().toSorted((one, other) => one.dueAt.getTime() - other.dueAt.getTime());
  return first?.dueAt ?? null;
}

/** How many messages have a job in Redis, counted up to `most`. */
export async function findAdmittedCount(most: number): Promise<number> {
  const [row] = await query(
    `SELECT COUNT(*) AS jobs FROM
       (SELECT 1 FROM sms_messages FORCE INDEX (sms_due) WHERE status = 'queued' AND parked = 0 LIMIT ?) AS admitted`,
    [most],
  );
  return Number(row!.jobs);
}

/** They get a job in Redis, and are due from now on: by that it is told whether a job is lost. */
export async function updateSmsAdmitted(smsIds: string[], at: Date): Promise<void> {
  if (smsIds.length > 0)
    await query(
      `UPDATE sms_messages ${byId} SET parked = 0, due_at = GREATEST(due_at, ?)
       WHERE id IN (?) AND status = 'queued' AND parked = 1`,
      [at, smsIds.map(idToBytes)],
    );
}

type Named = { workspaceId: string; smsId: string };
const toNamed = (row: Row): Named => ({
  workspaceId: idFromBytes('workspace', row.workspace_id),
  smsId: idFromBytes('sms', row.id),
});

/** Messages that have been held for as long as they may be. */
export async function listExpiredHeldSms(at: Date, limit: number): Promise<Named[]> {
  const rows = await query(
    `SELECT id, workspace_id FROM sms_messages FORCE INDEX (sms_due)
     WHERE status = 'held' AND parked = 0 AND due_at <= ? ORDER BY due_at LIMIT ?`,
    [at, limit],
  );
  return rows.map(toNamed);
}

/** Workspaces with held messages that can pay for the first of them. */
export async function listWorkspacesToRelease(limit: number): Promise<string[]> {
  const rows = await query(
    `SELECT firsts.workspace_id FROM
       (SELECT workspace_id, MIN(id) AS id FROM sms_messages FORCE INDEX (sms_by_status) WHERE status = 'held'
        GROUP BY status, workspace_id) AS firsts
     JOIN sms_messages m ON m.id = firsts.id
     LEFT JOIN sms_balances b ON b.workspace_id = firsts.workspace_id
     WHERE b.workspace_id IS NULL OR b.balance >= COALESCE(m.cost_gbp, 0) LIMIT ?`,
    [limit],
  );
  return rows.map((row) => idFromBytes('workspace', row.workspace_id));
}

/** Locked until the transaction ends. */
export async function findSmsOfGatewayForUpdate(
  gateway: string,
  reference: string,
): Promise<SmsRecord | null> {
  const [found] = await execute('SELECT id FROM sms_messages WHERE gateway_reference = ? AND gateway = ?', [
    Buffer.from(fitting('sms_messages.gateway_reference', reference)),
    Buffer.from(gateway),
  ]);
  if (!found) return null;
  const [row] = await execute(`SELECT * FROM sms_messages ${byId} WHERE id = ? FOR UPDATE`, [found.id]);
  return row ? toRecord(row) : null;
}

/** Deletes some of those made before then whose course is over, or will not go on. */
export async function deleteSmsBefore(until: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    "DELETE FROM sms_messages WHERE id < ? AND status NOT IN ('queued', 'held') ORDER BY id LIMIT ?",
    [firstUuidAt(until), limit],
  );
  return affectedRows;
}
