import { createHash, randomUUID } from 'node:crypto';
import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { type FieldErrors, invalid, problem } from '../../common/errors.ts';
import type { Usable } from '../../common/faults.ts';
import { requestId } from '../../common/request-context.ts';
import { currentVersion } from '../../common/versions.ts';
import { config } from '../../config/config.ts';
import { afterCommit, onOneConnection } from '../../db/client.ts';
import * as system from '../../db/events/events.system.ts';
import * as db from '../../db/events/events.ts';
import { idToBytes, newId } from '../../formats/ids.ts';
import { relayEvents } from '../../jobs/relay-events.ts';
import { enqueue, findRunnableJobs } from '../../queue/queue.ts';
import type { Event, EventFilter, EventType } from '../../schemas/events.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { decodeCursor, encodeCursor } from '../requests/cursors.ts';
import { seesAll, show } from '../requests/visibility.ts';

/** Stores events, wakes the relay after the commit, and serves the feed to callers. */

/** An event of a record, ready to be stored together with the change that it reports. */
export function make(
  type: EventType | 'webhook.test',
  record: { id: string; seq: number; data: object },
  occurredAt: Date,
  request: string | null = requestId(),
): db.NewEventRecord {
  return {
    id: newId('event', occurredAt),
    type,
    recordId: record.id,
    recordSeq: record.seq,
    occurredAt,
    data: JSON.stringify(record.data),
    requestId: request,
  };
}

/** Stores an event in the current transaction and has it relayed once that commits. */
export async function record(workspaceId: string, event: db.NewEventRecord): Promise<void> {
  await db.insertEvent(workspaceId, event);
  afterCommit(wakeRelay);
}

const wakeEveryMs = 10;
/**
 * The most relay jobs that wait in Redis. One run handles all events, so more jobs add nothing. Without a limit
 * many busy processes would add them faster than one relay can end them.
 */
const mostWaiting = 1_000;
const lookEveryMs = 1_000;
// Processes of two containers may have the same process id, so the jobs of this process are named by a random one.
const thisProcess = randomUUID();
let resting = false;
let isWanted = false;
let wakes = 0;
let isCrowded = false;
let lookedAt = Number.NEGATIVE_INFINITY;
forgetAtEnd(() => {
  [isCrowded, lookedAt] = [false, Number.NEGATIVE_INFINITY];
});

function lookAtWaiting(): void {
  const time = performance.now();
  if (time - lookedAt < lookEveryMs) return;
  lookedAt = time;
  void findRunnableJobs([relayEvents.lanes.default]).then((waiting) => {
    isCrowded = waiting > mostWaiting;
  });
}

/**
 * Wakes relay-events: at once, then at most every few milliseconds, since one run takes all there is. Every wake
 * has an id of its own, because a run in progress may have looked just before the event was committed.
 */
export function wakeRelay(): void {
  if (resting) {
    isWanted = true;
    return;
  }
  lookAtWaiting();
  if (!isCrowded) {
    wakes += 1;
    enqueue(relayEvents, {}, { lane: 'default', id: `relay-${thisProcess}-${wakes}` });
  }
  resting = true;
  setTimeout(() => {
    resting = false;
    if (!isWanted) return;
    isWanted = false;
    wakeRelay();
  }, wakeEveryMs).unref();
}

/** `data` is stored text; it goes into the envelope byte for byte, which is what webhooks sign. */
export function envelope(event: Omit<db.EventRecord, 'position'>, apiVersion: string): string {
  // Ids, types, times and versions have no character that JSON would escape.
  return `{"id":"${event.id}","type":"${event.type}","occurredAt":"${event.occurredAt.toISOString()}","apiVersion":"${apiVersion}","workspaceId":"${event.workspaceId}","data":${event.data}}`;
}

function toWire(caller: Caller, event: db.EventRecord, version: string): Event {
  return {
    id: event.id,
    type: event.type,
    occurredAt: event.occurredAt.toISOString(),
    apiVersion: version,
    workspaceId: event.workspaceId,
    data: show(caller, JSON.parse(event.data)),
    // The row was written with a type and the record that goes with it.
  } as Event;
}

/** The events of one record, oldest first. */
export async function listOfRecord(caller: Caller, recordId: string, version: string): Promise<Event[]> {
  const events = await db.listEventsOfRecord(caller.workspaceId, recordId);
  return events.map((event) => toWire(caller, event, version));
}

/**
 * The place that a cursor stands for. `of`: a fingerprint of the event at position `after`. When the database is
 * restored from a backup, new events get positions that were used before. An older cursor would skip some of these
 * events, and nobody would notice.
 */
type FeedPosition = { after: number; of?: string | null; since: string | null; at: string };

// A filter may match few events. So each request searches a few windows of this many events.
const windowSize = 5_000;
const windowsPerRequest = 4;

/**
 * Reads the feed (API decisions §4). The cursor says how far the search has come, not where the last match was, so a
 * rare type neither gets stuck nor is searched for twice. Reading goes by position: events without a position are not
 * visible yet. The items are JSON.
 */
export async function feed(
  caller: Caller,
  filter: EventFilter,
  version: string = currentVersion,
): Promise<{ items: string[]; nextCursor: string; hasMore: boolean }> {
  const binding = { workspaceId: caller.workspaceId, listing: 'events' };
  const place = filter.cursor ? decodeCursor<FeedPosition>(binding, filter.cursor) : null;
  const { found, next, hasMore } = await onOneConnection(() => read(caller.workspaceId, filter, place));
  return {
    // A caller that sees everything gets the stored text as it is; rendering a thousand events anew takes longer than
    // reading them.
    items: found.map((event) =>
      seesAll(caller) ? envelope(event, version) : JSON.stringify(toWire(caller, event, version)),
    ),
    nextCursor: next ? encodeCursor(binding, next) : filter.cursor!,
    hasMore,
  };
}

/**
 * Reads a page, and where the next page begins (null: where this page began). `hasMore`: the page is full, or the
 * search has not reached the end; it says nothing about events of other workspaces. All queries use one connection.
 * Each server of a cluster has all rows up to the position of its own counter; another server may still lack some of
 * them, and the cursor would skip these rows.
 */
async function read(
  workspaceId: string,
  filter: EventFilter,
  place: FeedPosition | null,
): Promise<{ found: db.EventRecord[]; next: FeedPosition | null; hasMore: boolean }> {
  const time = now();
  // The bounds are read before the rows: events that are numbered later come with the next page.
  const [bounds, named] = await Promise.all([system.findFeedBounds(), place ? nameAt(place.after) : null]);
  const start = place
    ? checkPlace(place, named, time, bounds)
    : await startAt(filter.since, time, bounds.purged);
  if (start.after > bounds.newest) return { found: [], next: null, hasMore: false };
  const since = start.since ? new Date(start.since) : null;
  const types = filter.types?.length ? filter.types : null;

  const found: db.EventRecord[] = [];
  let after = start.after;
  let isAtEnd = false;
  for (let window = 0; window < windowsPerRequest && !isAtEnd && found.length < filter.limit; window += 1) {
    const bound = types ? await db.findPositionFurtherOn(workspaceId, after, windowSize) : null;
    const upTo = Math.min(bound ?? bounds.newest, bounds.newest);
    const wanted = filter.limit - found.length;
    const events = await db.listEventsAfter(workspaceId, { after, upTo }, types, wanted);
    // The statement does not filter by time: it could have to skip any number of events that were numbered late.
    found.push(...events.filter(({ occurredAt }) => !since || occurredAt >= since));
    const isFull = events.length === wanted;
    after = isFull ? events.at(-1)!.position! : Math.max(after, upTo);
    isAtEnd = after >= bounds.newest || (bound === null && !isFull);
  }
  const last = found.at(-1);
  // As a rule the page ends with the event that the cursor stands on.
  const of = last?.position === after ? nameOf(idToBytes(last.id)) : await nameAt(after);
  const hasMore = found.length === filter.limit || !isAtEnd;
  return { found, next: { after, of, since: start.since, at: time.toISOString() }, hasMore };
}

function retentionStart(time: Date): Date {
  return new Date(time.getTime() - config.EVENT_RETENTION_DAYS * 86_400_000);
}

/**
 * Returns a fingerprint of the event at this position, or null if there is none. It shows whether a restored
 * database has given the position to another event.
 */
async function nameAt(position: number): Promise<string | null> {
  const id = position > 0 ? await system.findIdAt(position) : null;
  return id && nameOf(id);
}

/** Returns a hash, because the event may belong to another workspace. */
function nameOf(id: Buffer): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 10);
}

/** The longest time by which a node of a database cluster may be behind the node that gave the cursor. */
const lagMs = 30_000;

type FeedBounds = { newest: number; purged: number };

function checkPlace(
  place: FeedPosition,
  named: string | null,
  time: Date,
  { newest, purged }: FeedBounds,
): FeedPosition {
  if (new Date(place.at) < retentionStart(time) || place.after < purged)
    throw problem('cursor_expired', {
      detail: 'The cursor is older than the events that are kept. Start again with since',
    });
  const isLost = place.after > newest && time.getTime() - Date.parse(place.at) > lagMs;
  if (isLost || (place.of && named && place.of !== named))
    throw problem('cursor_expired', {
      detail:
        'The service was restored from a backup, and the events after this cursor are not the same any more. Start again with since',
    });
  return place;
}

const isAhead = (since: Date | undefined, time: Date) => since !== undefined && since > time;

/** Returns the faults for which `feed` would refuse a request. Skips parameters of the wrong shape. */
export function faultsOfFilter({ cursor, since }: Usable<EventFilter>): FieldErrors {
  return cursor === undefined && isAhead(since, now()) ? { since: ['must not be in the future'] } : {};
}

async function startAt(since: Date | undefined, time: Date, purged: number): Promise<FeedPosition> {
  if (isAhead(since, time)) throw invalid('since', 'must not be in the future');
  const oldest = retentionStart(time);
  let from = since ?? new Date(time.getTime() - 3_600_000);
  if (from < oldest) from = oldest;
  // Clocks of two processes may differ a little: look from a few seconds before, then go by each event's time.
  const after = await system.findPositionAt(new Date(from.getTime() - 10_000));
  return { after: Math.max(after, purged), since: from.toISOString(), at: time.toISOString() };
}
