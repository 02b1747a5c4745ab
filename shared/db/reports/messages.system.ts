import { firstUuidAt, idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { RowOf } from '../client/table.ts';
import { changeRows, hex, literal, query } from '../client.ts';
import type { emails } from '../email/emails.ts';
import type { sms } from '../sms/messages.ts';
import type { Channel } from './counts.ts';

/** Messages as the counting for reports reads them, and how each one was last counted. */

/** Returns the hour down to which messages older than the reports have been counted; 0: all of them have been. */
export async function findBackfill(): Promise<number> {
  const [row] = await query<{ value: number }[]>(
    "SELECT value FROM counters WHERE name = 'reports.backfill'",
  );
  return row?.value ?? 0;
}

/** Moves the backfill on to `to`, unless another process has moved it from `from` already. */
export async function updateBackfill(from: number, to: number): Promise<void> {
  await query("UPDATE counters SET value = ? WHERE name = 'reports.backfill' AND value = ?", [to, from]);
}

/** When the first event happened that has a position and is not counted yet; null where there is none. */
export async function findOldestUncounted(): Promise<Date | null> {
  const [row] = await query<{ occurred_at: Date }[]>(
    `SELECT occurred_at FROM events FORCE INDEX (events_position)
     WHERE position > (SELECT value FROM counters WHERE name = 'reports.position') ORDER BY position LIMIT 1`,
  );
  return row?.occurred_at ?? null;
}

// Times are read as numbers: if the driver made four dates of each row, that would take as long as all the rest.
const times = `TIMESTAMPDIFF(HOUR, '1970-01-01', m.created_at) AS hour,
  TIMESTAMPDIFF(MICROSECOND, COALESCE(m.scheduled_at, m.created_at), m.sent_at) DIV 1000 AS sent_ms,
  TIMESTAMPDIFF(MICROSECOND, m.sent_at, m.delivered_at) DIV 1000 AS delivered_ms`;
const emailColumns = [
  'workspace_id',
  'kind',
  'status',
  'sender',
  'recipient_key',
  'reason_category',
  'client_tag',
] as const satisfies (keyof RowOf<typeof emails>)[];
const smsColumns = [
  'workspace_id',
  'direction',
  'status',
  'country',
  'parts',
  'cost_gbp',
  'cost_eur',
  'charged',
  'lineage_id',
  'reason_category',
  'reason_code',
  'client_tag',
  'batch_id',
  'uncertain_count',
  'is_partly_taken',
  'gateway',
] as const satisfies (keyof RowOf<typeof sms>)[];
type TimesIn = { hour: number; sent_ms: number | null; delivered_ms: number | null };
/** A message as it is stored, with the columns that reports read. */
export type ReportedMessages = {
  email: Pick<RowOf<typeof emails>, 'id' | (typeof emailColumns)[number]> & TimesIn & { is_opened: number };
  sms: Pick<RowOf<typeof sms>, 'id' | (typeof smsColumns)[number]> & TimesIn;
};
const columnsOf = (names: readonly string[]) => names.map((name) => `m.${name}`).join(', ');
const sources = {
  email: {
    table: 'emails',
    columns: `${columnsOf(emailColumns)}, ${times}, m.opened_at IS NOT NULL AS is_opened`,
    /** By workspace and id. */
    listing: 'emails_listed',
    events: "e.type LIKE 'email.%'",
  },
  sms: {
    table: 'sms_messages',
    columns: `${columnsOf(smsColumns)}, ${times}`,
    listing: 'sms_listed',
    events: "e.type LIKE 'sms.%'",
  },
};

type Stretch = { from: Date; to: Date };
/** Positions of events, `after` itself not included. */
export type Positions = { after: number; upTo: number };
/** A message that an event is about. Only the id of a deleted message is known. */
export type ChangedMessage = { type: string; counted: Buffer | null } & (
  | ReportedMessages[Channel]
  | { id: Buffer; workspace_id: null }
);

/**
 * Returns a row for each event of a channel between two positions, in their order: the `type` of the event, the `id` of
 * its message, the message as it is now with the columns that reports read, and how it was last `counted`.
 * `workspace_id` is null where the message is gone. It is one statement: for thousands of ids, sending them to the
 * server costs more than the rows.
 */
export async function listChangedMessages(
  channel: Channel,
  { after, upTo }: Positions,
): Promise<ChangedMessage[]> {
  const { table, columns, events } = sources[channel];
  return query<ChangedMessage[]>(
    `SELECT e.record_id AS id, e.type, s.counted, ${columns} FROM events e FORCE INDEX (events_position)
     LEFT JOIN ${table} m ON m.id = e.record_id LEFT JOIN report_states s ON s.id = e.record_id
     WHERE e.position > ? AND e.position <= ? AND ${events} ORDER BY e.position`,
    [after, upTo],
  );
}

/** Returns the data of the newest event between two positions of each of these records, which are gone themselves. */
export async function listLastData(
  ids: Buffer[],
  { after, upTo }: Positions,
): Promise<{ id: Buffer; workspaceId: Buffer; data: string }[]> {
  if (ids.length === 0) return [];
  const rows = await query<{ id: Buffer; workspace_id: Buffer; data: string }[]>(
    `SELECT record_id AS id, workspace_id, data FROM events FORCE INDEX (events_position)
     WHERE position > ? AND position <= ? AND record_id IN (${ids.map(hex).join(',')}) ORDER BY position`,
    [after, upTo],
  );
  const last = new Map(rows.map((row) => [row.id.toString('latin1'), row]));
  return [...last.values()].map((row) => ({ id: row.id, workspaceId: row.workspace_id, data: row.data }));
}

/** How these messages were last counted, by their ids as latin1. */
export async function listStates(ids: Buffer[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: Buffer; counted: Buffer }[]>(
    `SELECT id, counted FROM report_states FORCE INDEX (PRIMARY) WHERE id IN (${ids.map(hex).join(',')})`,
  );
  return new Map(rows.map((row) => [row.id.toString('latin1'), row.counted.toString()]));
}

export type State = { id: Buffer; workspaceId: Buffer; counted: string };

export async function updateStates(states: State[]): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map(
    ({ id, workspaceId, counted }) => `(${hex(id)},${hex(workspaceId)},${literal(counted)})`,
  );
  await query(
    `INSERT INTO report_states (id, workspace_id, counted) VALUES ${rows.join(',')}
     ON DUPLICATE KEY UPDATE counted = VALUES(counted)`,
  );
}

/** The time in an id is about that of its message: up to half a second ahead, and more where many are made at once. */
const slackMs = 5_000;
const boundsOf = ({ from, to }: Stretch) => [
  firstUuidAt(new Date(from.getTime() - slackMs)),
  firstUuidAt(new Date(to.getTime() + slackMs)),
];

/** Returns messages of a workspace that were accepted in the stretch, in the order of their ids, after `after`. */
export async function listAcceptedMessages<Of extends Channel>(
  workspaceId: string,
  channel: Of,
  { from, to }: Stretch,
  after: Buffer | null,
  limit: number,
): Promise<{ rows: ReportedMessages[Of][]; reached: Buffer | null }> {
  const [first, end] = boundsOf({ from, to });
  const { table, columns, listing } = sources[channel];
  const rows = await query<(ReportedMessages[Of] & { created_at: Date })[]>(
    `SELECT m.id, m.created_at, ${columns} FROM ${table} m FORCE INDEX (${listing})
     WHERE m.workspace_id = ? AND m.id > ? AND m.id < ? ORDER BY m.id LIMIT ?`,
    [idToBytes(workspaceId), after ?? first, end, limit],
  );
  return {
    rows: rows.filter(({ created_at }) => created_at >= from && created_at < to),
    reached: rows.length === limit ? rows.at(-1)!.id : null,
  };
}

/** Returns about when the newest message before `before` was accepted; null where there is none. */
export async function findNewestBefore(channel: Channel, before: Date): Promise<Date | null> {
  const { table } = sources[channel];
  const [row] = await query<{ id: Buffer }[]>(
    `SELECT id FROM ${table} FORCE INDEX (PRIMARY) WHERE id < ? ORDER BY id DESC LIMIT 1`,
    [firstUuidAt(new Date(before.getTime() + slackMs))],
  );
  return row ? new Date(row.id.readUIntBE(0, 6) + slackMs) : null;
}

/** Returns the workspaces that accepted messages in the stretch, or within `slackMs` of it. */
export async function listWorkspacesWithMessages(channel: Channel, stretch: Stretch): Promise<string[]> {
  const { table } = sources[channel];
  const rows = await query<{ id: Buffer }[]>(
    `SELECT DISTINCT workspace_id AS id FROM ${table} FORCE INDEX (PRIMARY) WHERE id >= ? AND id < ?`,
    boundsOf(stretch),
  );
  return rows.map(({ id }) => idFromBytes('workspace', id));
}

/** Returns whether a message of the stretch was counted and is gone now. */
export async function findHasGone(workspaceId: string, channel: Channel, stretch: Stretch): Promise<boolean> {
  const { table } = sources[channel];
  const rows = await query(
    `SELECT 1 FROM report_states s FORCE INDEX (PRIMARY) LEFT JOIN ${table} m ON m.id = s.id
     WHERE s.id >= ? AND s.id < ? AND s.workspace_id = ? AND s.counted LIKE ? AND m.id IS NULL LIMIT 1`,
    [...boundsOf(stretch), idToBytes(workspaceId), `${channel[0]}%`],
  );
  return rows.length > 0;
}

/**
 * Reads a batch of states of messages that were made before `until`, from the id `from` on, and deletes the states of
 * the channel. Returns how many it deleted, and the id where the next batch starts, or null after the last batch.
 */
export async function deleteStatesOf(
  channel: Channel,
  { from, until }: { from: Buffer; until: Date },
  limit: number,
): Promise<{ gone: number; next: Buffer | null }> {
  const stretch = [from, firstUuidAt(until)];
  const [next] = await query<{ id: Buffer }[]>(
    'SELECT id FROM report_states WHERE id >= ? AND id < ? ORDER BY id LIMIT 1 OFFSET ?',
    [...stretch, limit],
  );
  const gone = await changeRows('DELETE FROM report_states WHERE id >= ? AND id < ? AND counted LIKE ?', [
    from,
    next?.id ?? stretch[1]!,
    `${channel[0]}%`,
  ]);
  return { gone, next: next?.id ?? null };
}
