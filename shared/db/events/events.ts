import { idToBytes } from '../../formats/ids.ts';
import { id, number, sharedId, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute, insertNew, knexTable, type Param, query, run } from '../client.ts';

/** The events of a workspace: stored with the change that they report, and listed for the feed. */

export type NewEventRecord = {
  id: string;
  type: string;
  recordId: string;
  /** 1 for the first event of the record, rising by one. */
  recordSeq: number;
  occurredAt: Date;
  /** JSON text, kept as it is: these bytes are served and signed. */
  data: string;
  requestId: string | null;
};
export const events = table('events', {
  id: id('event'),
  workspaceId: sharedId('workspace'),
  /** Null until the event has been given its place in the feed. */
  position: number().nullable(),
  type: text(),
  occurredAt: time(),
  data: text(),
});
export type EventRecord = RecordOf<typeof events>;

export const insertColumns = '(id, workspace_id, type, record_id, record_seq, occurred_at, data, request_id)';

/** Stores an event; call it in the transaction of the change that the event is about. */
export async function insertEvent(workspaceId: string, event: NewEventRecord): Promise<void> {
  await insertNew(`events ${insertColumns}`, toValues(workspaceId, event));
}

/** The events of one record, oldest first, numbered or not. */
export async function listEventsOfRecord(workspaceId: string, recordId: string): Promise<EventRecord[]> {
  return events.toRecords(
    await execute(
      `SELECT ${events.columns} FROM events WHERE workspace_id = ? AND record_id = ? ORDER BY record_seq LIMIT 1000`,
      [idToBytes(workspaceId), idToBytes(recordId)],
    ),
  );
}

/** Returns the sequence number of the newest stored event of the record; 0 where there is none. */
export async function findNewestRecordSeq(workspaceId: string, recordId: string): Promise<number> {
  const [row] = await execute<{ seq: number | null }[]>(
    'SELECT MAX(record_seq) AS seq FROM events WHERE workspace_id = ? AND record_id = ?',
    [idToBytes(workspaceId), idToBytes(recordId)],
  );
  return row!.seq ?? 0;
}

/**
 * Lists events after a position, in order, up to `upTo`. `types` null: all; a type may end in `.*`.
 * The range limits the cost even of a filter that matches nothing. The index is forced because the optimizer otherwise
 * reads all events of a workspace that has many.
 */
export async function listEventsAfter(
  workspaceId: string,
  range: { after: number; upTo: number },
  types: string[] | null,
  limit: number,
): Promise<EventRecord[]> {
  const builder = knexTable('events', ['events_feed'])
    .select(events.names)
    .where('workspace_id', idToBytes(workspaceId))
    .where('position', '>', range.after)
    .where('position', '<=', range.upTo)
    // The test of a webhook is about no message (API decisions §4).
    .whereNot('type', 'webhook.test');
  if (types)
    void builder.where((either) => {
      for (const type of types)
        if (type.endsWith('.*')) void either.orWhere('type', 'like', `${type.slice(0, -1)}%`);
        else void either.orWhere('type', type);
    });
  return events.toRecords(await run(builder.orderBy('position').limit(limit)));
}

/** Returns the position of the event that is `count` events further on in this workspace; null if there are fewer. */
export async function findPositionFurtherOn(
  workspaceId: string,
  after: number,
  count: number,
): Promise<number | null> {
  const [row] = await query<{ position: number }[]>(
    `SELECT position FROM events FORCE INDEX (events_feed) WHERE workspace_id = ? AND position > ?
     ORDER BY position LIMIT 1 OFFSET ?`,
    [idToBytes(workspaceId), after, count - 1],
  );
  return row ? row.position : null;
}

/**
 * Returns the values by hand, because the record's id may have any prefix. `toBytes` may cache ids that many events
 * share.
 */
export function toValues(workspaceId: string, event: NewEventRecord, toBytes = idToBytes): Param[] {
  return [
    idToBytes(event.id),
    toBytes(workspaceId),
    event.type,
    idToBytes(event.recordId),
    event.recordSeq,
    event.occurredAt,
    event.data,
    event.requestId === null ? null : Buffer.from(event.requestId),
  ];
}
