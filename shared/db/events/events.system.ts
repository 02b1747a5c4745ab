import type { RecordOf, RowOf } from '../client/table.ts';
import { byId, execute, hex, query, type RowValue, valueByRow, writtenRows } from '../client.ts';
import { updateCounter } from '../server/counters.system.ts';
import { events, type NewEventRecord, newEvents } from './events.ts';

/** Events of all workspaces, for the relay that numbers them, for the feed's positions, and for retention. */

export type OwnedEvent = { workspaceId: string; event: NewEventRecord };

/** Inserts many events of several records in one statement; each comes with its workspace. */
export async function insertEvents(
  events: OwnedEvent[],
  insertion: string = eventsInsertion(events),
): Promise<void> {
  if (events.length > 0) await query(insertion);
}

/** Returns the text of that statement, for callers who build it before their transaction begins. */
export function eventsInsertion(events: OwnedEvent[]): string {
  const rows = events.map(({ workspaceId, event }) => newEvents.toValues({ ...event, workspaceId }));
  return `INSERT INTO ${newEvents.into} VALUES ${writtenRows(rows)}`;
}

/** Ids stay bytes here: the relay passes on thousands a second and reads none of them. */
const unnumberedEvents = events.omit('position', 'occurredAt', 'data').inBytes();
export type UnnumberedEvent = RecordOf<typeof unnumberedEvents>;

// In this index, events without a position are in the order of their ids, so the first rows are the oldest. With an
// ORDER BY id the server would sort all of them, or read along all events that are kept.
const unnumbered = 'events FORCE INDEX (events_position) WHERE position IS NULL';

/** Committed events without a position, oldest first. */
export async function listUnnumberedEvents(limit: number): Promise<UnnumberedEvent[]> {
  const rows = await query<RowOf<typeof unnumberedEvents>[]>(
    `SELECT ${unnumberedEvents.columns} FROM ${unnumbered} LIMIT ?`,
    [limit],
  );
  return unnumberedEvents.toRecords(rows).toSorted((one, other) => one.id.compare(other.id));
}

/**
 * Lists unnumbered events of the same records that are missing from `events` and come before one of them. Events that
 * come after all of them are left out, as they may be newer than what the caller has read. A record with its first
 * event only needs no look-up.
 */
export async function listUnnumberedBefore(events: UnnumberedEvent[]): Promise<UnnumberedEvent[]> {
  const later = events.filter((event) => event.recordSeq > 1);
  if (later.length === 0) return [];
  const rows = await query<RowOf<typeof unnumberedEvents>[]>(
    `SELECT ${unnumberedEvents.columns} FROM events FORCE INDEX (events_of_record)
     WHERE (workspace_id, record_id) IN (?) AND position IS NULL`,
    [later.map((event) => [event.workspaceId, event.recordId])],
  );
  const known = new Set(events.map((event) => event.id.toString('latin1')));
  const newest = new Map<string, number>();
  for (const { recordId, recordSeq } of later) {
    const key = recordId.toString('latin1');
    newest.set(key, Math.max(recordSeq, newest.get(key) ?? 0));
  }
  return unnumberedEvents
    .toRecords(rows)
    .filter(
      ({ id, recordId, recordSeq }) =>
        recordSeq < newest.get(recordId.toString('latin1'))! && !known.has(id.toString('latin1')),
    );
}

/**
 * Lists a few of the oldest unnumbered events of some other workspaces. It uses the index of each workspace: in the
 * other index these events come after all events of the given workspaces. The index of a workspace is in the order of
 * the event types. So if a workspace has very many events, only the oldest of its first types are found.
 */
export async function listUnnumberedOfOthers(workspaceIds: Buffer[]): Promise<UnnumberedEvent[]> {
  const ofWorkspace = 'events FORCE INDEX (events_feed) WHERE position IS NULL AND workspace_id =';
  const others = await query<{ id: Buffer }[]>(
    `SELECT w.id FROM workspaces w WHERE w.id NOT IN (?) AND (SELECT 1 FROM ${ofWorkspace} w.id LIMIT 1) = 1
     ORDER BY RAND() LIMIT 50`,
    [workspaceIds],
  );
  if (others.length === 0) return [];
  const { columns } = unnumberedEvents;
  const some = `(SELECT * FROM (SELECT ${columns} FROM ${ofWorkspace} ? LIMIT 500) few ORDER BY id LIMIT 20)`;
  const rows = await query<RowOf<typeof unnumberedEvents>[]>(
    others.map(() => some).join(' UNION ALL '),
    others.map(({ id }) => id),
  );
  return unnumberedEvents.toRecords(rows).toSorted((one, other) => one.id.compare(other.id));
}

/** Returns the number that each of these texts was sent to, by the event id in hex. */
export async function listInboundNumbers(eventIds: Buffer[]): Promise<Map<string, string>> {
  if (eventIds.length === 0) return new Map();
  const rows = await query<{ id: Buffer; number: string }[]>(
    `SELECT id, JSON_UNQUOTE(JSON_EXTRACT(data, '$.recipient')) AS number FROM events WHERE id IN (?)`,
    [eventIds],
  );
  return new Map(rows.map((row) => [row.id.toString('hex'), row.number]));
}

/** Gives the events, in their order, the positions after `after`. */
export async function updatePositions(eventIds: Buffer[], after: number): Promise<void> {
  const rows = eventIds
    .map((id, index): RowValue => [hex(id), after + index + 1])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const ids = rows.map(([id]) => id).join(',');
  await query(`UPDATE events ${byId} SET position = ${valueByRow('id', rows)} WHERE id IN (${ids})`);
}

/** Moves the counter, and stores a mark, at most every few seconds: the feed had reached `before` at that time. */
export async function updatePositionReached(position: number, before: number, at: Date): Promise<void> {
  await updateCounter('events.position', position);
  await query(
    `INSERT INTO event_marks (reached_at, position) SELECT ?, ? FROM counters WHERE name = 'events.position'
     AND NOT EXISTS (SELECT 1 FROM event_marks WHERE reached_at > ?)
     ON DUPLICATE KEY UPDATE event_marks.position = event_marks.position`,
    [at, before, new Date(at.getTime() - 5000)],
  );
}

/** Marks that the feed had reached this position by then. */
export async function insertMark(position: number, at: Date): Promise<void> {
  await query('INSERT IGNORE INTO event_marks (reached_at, position) VALUES (?, ?)', [at, position]);
}

/** Returns the position that the feed had reached, and passed on, by `at`; 0 without a mark. */
export async function findPositionAt(at: Date): Promise<number> {
  const [row] = await query<{ position: number }[]>(
    'SELECT position FROM event_marks WHERE reached_at <= ? ORDER BY reached_at DESC LIMIT 1',
    [at],
  );
  return row ? row.position : 0;
}

/** Returns the newest position, and the position up to which events may have been deleted. */
export async function findFeedBounds(): Promise<{ newest: number; purged: number }> {
  const rows = await execute<{ name: Buffer; value: number }[]>(
    "SELECT name, value FROM counters WHERE name IN ('events.position', 'events.purged')",
  );
  const value = (name: string) => rows.find((row) => row.name.toString() === name)?.value ?? 0;
  return { newest: value('events.position'), purged: value('events.purged') };
}

/** Returns the id of the event at a position, of any workspace; null where it was deleted. */
export async function findIdAt(position: number): Promise<Buffer | null> {
  const [row] = await execute<{ id: Buffer }[]>('SELECT id FROM events WHERE position = ?', [position]);
  return row?.id ?? null;
}

/**
 * First records that events up to `position` may be gone, then deletes a batch of them. An event stays as long as one of
 * its deliveries, which needs it. Returns how many went, and the position after which the next batch begins.
 */
export async function deleteEventsUpTo(
  position: number,
  after: number,
  limit: number,
): Promise<{ gone: number; last: number }> {
  await query("UPDATE counters SET value = GREATEST(value, ?) WHERE name = 'events.purged'", [position]);
  const rows = await query<{ id: Buffer; position: number }[]>(
    `SELECT id, position FROM events FORCE INDEX (events_position) WHERE position > ? AND position <= ?
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = events.id) ORDER BY position LIMIT ?`,
    [after, position, limit],
  );
  if (rows.length === 0) return { gone: 0, last: after };
  await query('DELETE FROM events WHERE id IN (?)', [rows.map(({ id }) => id)]);
  return { gone: rows.length, last: rows.at(-1)!.position };
}

export async function deleteMarksBefore(at: Date): Promise<void> {
  await query('DELETE FROM event_marks WHERE reached_at < ? LIMIT 10000', [at]);
}

/** When the oldest event without a position was made; null when all have one. */
export async function findOldestUnnumbered(): Promise<Date | null> {
  const [row] = await query<{ occurred_at: Date }[]>(`SELECT occurred_at FROM ${unnumbered} LIMIT 1`);
  return row?.occurred_at ?? null;
}
