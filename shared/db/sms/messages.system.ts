import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { smsLanes } from '../../schemas/lanes.ts';
import { fitting } from '../client/outside-text.ts';
import { findRowOfAny } from '../client/rows.system.ts';
import type { RecordOf, RowOf } from '../client/table.ts';
import { byId, changeRows, comparedKey, execute, query, updateEach } from '../client.ts';
import { claimer, claimUndoer, handoverStarter, leaseReturner } from '../work/claim.system.ts';
import { blockedSince } from '../work/message-admission.system.ts';
import { outcomeWriter } from '../work/outcomes.system.ts';
import { dueTable, ofMessages, workTable } from '../work/table.system.ts';
import { type SmsRecord, sms } from './messages.ts';

/** Text messages as workers see them: how one is claimed, handed over and finished. */

export const smsTable = workTable(sms, {
  ...ofMessages,
  lanes: { field: 'lane', order: smsLanes },
  index: 'sms_admission',
});

/** Held messages are due when they have been held for as long as is allowed. */
export const heldTable = dueTable(
  { name: sms.name, fields: { ...sms.fields, heldUntil: sms.fields.dueAt } },
  { key: 'id', due: 'heldUntil', index: 'sms_held' },
);

export type ClaimedSms = {
  record: SmsRecord;
  token: Buffer;
  /** The recipient is on the suppression list. */
  isSuppressed: boolean;
  /** Since when the operator has blocked the workspace's sending; null: it may send. */
  blockedSince: Date | null;
};

// The reply to a STOP is exempt: its number has just become suppressed.
const isSuppressed = `EXISTS (SELECT 1 FROM suppressions s
  WHERE s.workspace_id = sms_messages.workspace_id AND s.number = sms_messages.recipient AND NOT EXISTS (
    SELECT 1 FROM sms_stop_replies r WHERE r.workspace_id = sms_messages.workspace_id
      AND r.number = sms_messages.recipient AND r.sms_id = sms_messages.id))`;

// Texts are small and many: few large statements cost less than several small ones at once. Two may be in flight, so
// that one that waits for a lock does not stop all texts.
export const batches = { maxItems: 100, maxInFlight: 2 };

type ClaimedSmsRow = RowOf<typeof sms> & { suppressed: number; blocked_since: Date | null };

export const claimSms = claimer<ClaimedSms, ClaimedSmsRow>(smsTable, {
  select: `SELECT sms_messages.*, ${isSuppressed} AS suppressed, ${blockedSince('w')} AS blocked_since FROM sms_messages
    LEFT JOIN workspaces w ON w.id = sms_messages.workspace_id`,
  toClaimed: (row, token) => ({
    record: sms.toRecord(row),
    token,
    isSuppressed: row.suppressed === 1,
    blockedSince: row.blocked_since,
  }),
  batches,
});
export const updateSmsHandoverStarted = handoverStarter(smsTable, {
  receiver: sms.pick('handoverGateway'),
  batches,
});
export const updateSmsHeldBack = leaseReturner(smsTable);
export const updateSmsClaimUndone = claimUndoer(smsTable, sms.pick('handoverGateway'));

const outcome = sms.pick(
  'status',
  'reason',
  'updatedAt',
  'sentAt',
  'dueAt',
  'parked',
  'retries',
  'triedAt',
  'uncertainCount',
  'isPartlyTaken',
  'gateway',
  'gatewayReference',
  'eventSeq',
  'handoverGateway',
);
const writeOutcomes = outcomeWriter(smsTable, outcome, { clears: sms.pick('handoverAt') });

/**
 * Writes the outcomes of claimed messages and gives back their leases; returns how many still had their lease.
 * `waitsFor`: the gateway because of which a message is put off. It stays in the row until the next outcome.
 */
export function updateSmsOutcomes(
  outcomes: { message: SmsRecord; token: Buffer; waitsFor?: string }[],
): Promise<number> {
  return writeOutcomes(
    outcomes.map(({ message, token, waitsFor = null }) => ({
      lease: { id: message.id, token },
      record: { ...message, handoverGateway: waitsFor },
    })),
  );
}

/** A place among the messages that were put off, by their time; `id` is null before all of that time. */
export type PutOffPlace = { dueAt: Date; id: string | null };

const putOff = sms.pick(
  'id',
  'workspaceId',
  'dueAt',
  'lane',
  'parked',
  'claims',
  'requestId',
  'handoverGateway',
);
export type PutOffSms = RecordOf<typeof putOff> & { dueAt: Date };

/** Lists the messages that gateways have put off and that are due after this place, first due first. */
export async function listSmsPutOff(after: PutOffPlace, limit: number): Promise<PutOffSms[]> {
  const isAfter = comparedKey(['put_off_until', 'id'], '>', [
    after.dueAt,
    after.id === null ? Buffer.alloc(0) : idToBytes(after.id),
  ]);
  const rows = await query<(RowOf<typeof putOff> & { due_at: Date })[]>(
    `SELECT ${putOff.columns} FROM sms_messages FORCE INDEX (sms_put_off)
     WHERE ${isAfter.sql} ORDER BY put_off_until, id LIMIT ?`,
    [...isAfter.values, limit],
  );
  return rows.map((row) => ({ ...putOff.toRecord(row), dueAt: row.due_at }));
}

/** Makes messages due at `at` that are due later, and that no worker has claimed or admitted since. */
export function updateSmsSooner(ids: string[], parked: boolean, at: Date): Promise<number> {
  return changeRows(
    `UPDATE sms_messages ${byId} SET due_at = ?
     WHERE id IN (?) AND status = 'queued' AND parked = ? AND lease_token IS NULL AND due_at > ?`,
    [at, ids.map(idToBytes), parked, at],
  );
}

export function findSmsOfAnyForUpdate(smsId: string): Promise<SmsRecord | null> {
  return findRowOfAny(sms, smsId, 'FOR UPDATE');
}

/** Lists workspaces that can pay for their first held message. */
export async function listWorkspacesToRelease(limit: number): Promise<string[]> {
  const rows = await query<{ workspace_id: Buffer }[]>(
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

/**
 * Returns the text with this reference, locked until the transaction ends. If a gateway gave it twice, the newer text.
 */
export async function findSmsOfGatewayForUpdate(
  gateway: string,
  reference: string,
): Promise<SmsRecord | null> {
  const [found] = await execute<{ id: Buffer }[]>(
    `SELECT id FROM sms_messages FORCE INDEX (sms_of_gateway) WHERE gateway_reference = ? AND gateway = ?
     ORDER BY id DESC LIMIT 1`,
    [Buffer.from(fitting('sms_messages.gateway_reference', reference)), Buffer.from(gateway)],
  );
  if (!found) return null;
  return sms.toFirst(await execute(`SELECT * FROM sms_messages ${byId} WHERE id = ? FOR UPDATE`, [found.id]));
}

/**
 * Lists the texts with these gateways and references, locked. If texts share a reference, lists all, the newest last,
 * without those that are older than a text whose part has it.
 */
export async function listSmsOfGatewaysForUpdate(
  named: { gateway: string; reference: string }[],
): Promise<SmsRecord[]> {
  const found = await query<{ id: Buffer }[]>(
    `SELECT m.id FROM sms_messages m FORCE INDEX (sms_of_gateway)
     LEFT JOIN sms_parts p ON p.gateway = m.gateway AND p.reference = m.gateway_reference AND p.sms_id > m.id
     WHERE (m.gateway_reference, m.gateway) IN (?) AND p.sms_id IS NULL`,
    [
      named.map(({ gateway, reference }) => [
        Buffer.from(fitting('sms_messages.gateway_reference', reference)),
        Buffer.from(gateway),
      ]),
    ],
  );
  if (found.length === 0) return [];
  // Locked in the order of the ids, so that two callers cannot each wait for the other (a deadlock).
  const ids = found.map(({ id }) => id).toSorted((one, other) => one.compare(other));
  return sms.toRecords(
    await query(`SELECT * FROM sms_messages ${byId} WHERE id IN (?) ORDER BY id FOR UPDATE`, [ids]),
  );
}

/** Does the work of `withoutErasedContacts` for texts of several workspaces, with one query for all of them. */
export async function withoutErasedContactsOfAny(records: SmsRecord[]): Promise<SmsRecord[]> {
  const named = records.filter(({ contactId }) => contactId !== null);
  if (named.length === 0) return records;
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM contacts ${byId} WHERE (workspace_id, id) IN (?)`,
    [named.map(({ workspaceId, contactId }) => [idToBytes(workspaceId), idToBytes(contactId!)])],
  );
  const known = new Set(rows.map((row) => idFromBytes('contact', row.id)));
  return records.map((record) =>
    record.contactId === null || known.has(record.contactId) ? record : { ...record, contactId: null },
  );
}

const ended = sms.pick('status', 'reason', 'updatedAt', 'deliveredAt', 'eventSeq');

/** Writes the final states of texts that were sent; their rows must be locked. */
export function updateSmsEnds(records: SmsRecord[]): Promise<void> {
  return updateEach(ended, records);
}
