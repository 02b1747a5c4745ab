import { idToBytes } from '../../formats/ids.ts';
import { anyId, binaryText, id, int, number, sharedId, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { execute, insertNew, knexTable, query, run } from '../client.ts';

/** The events of a workspace: stored with the change that they report, and listed for the feed. */

export const events = table('events', {
  id: id('event'),
  workspaceId: sharedId('workspace'),
  /** Null until the event has been given its place in the feed. */
  position: number().nullable(),
  type: text(),
  recordId: anyId(),
  /** 1 for the first event of the record, rising by one. */
  recordSeq: int(),
  occurredAt: time(),
  /** JSON text, kept as it is: these bytes are served and signed. */
  data: text(),
  requestId: binaryText().nullable(),
});
export const newEvents = events.omit('position');
export type NewEventRecord = Omit<RecordOf<typeof newEvents>, 'workspaceId'>;
const served = events.omit('recordId', 'recordSeq', 'requestId');
export type EventRecord = RecordOf<typeof served>;

/** Stores an event; call it in the transaction of the change that the event is about. */
export async function insertEvent(workspaceId: string, event: NewEventRecord): Promise<void> {
  await insertNew(newEvents.into, newEvents.toValues({ ...event, workspaceId }));
}

/** The events of one record, oldest first, numbered or not. */
export async function listEventsOfRecord(workspaceId: string, recordId: string): Promise<EventRecord[]> {
  return served.toRecords(
    await execute(
      `SELECT ${served.columns} FROM events WHERE workspace_id = ? AND record_id = ? ORDER BY record_seq LIMIT 1000`,
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
    .select(served.names)
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
  return served.toRecords(await run(builder.orderBy('position').limit(limit)));
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
