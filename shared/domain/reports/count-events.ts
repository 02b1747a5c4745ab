import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import { afterCommit, transaction } from '../../db/client.ts';
import { findFeedBounds } from '../../db/events/events.system.ts';
import { type Channel, channels } from '../../db/reports/counts.ts';
import * as db from '../../db/reports/messages.system.ts';
import { findCounterForUpdate, updateCounter } from '../../db/server/counters.system.ts';
import type { Facts } from './facts.ts';
import { factsOf, factsOfEvent } from './read-facts.ts';
import { newRecounting } from './recount.ts';

/** Counts the events that came since the last run, batch by batch. Returns how many events there were. */
export async function countEvents(): Promise<number> {
  // Most runs find nothing new, so they take one query instead of a transaction that locks the position.
  if (!(await db.findOldestUncounted())) return 0;
  let total = 0;
  for (let done = config.REPORT_BATCH; done >= config.REPORT_BATCH; ) {
    done = await transaction(countBatch);
    total += done;
  }
  return total;
}

/** A batch is counted in this many parts: while one is counted, the database server reads the next one. */
const partsOfBatch = 5;

/**
 * Counts one batch. The position moves in the same transaction as the counts, so after any kill nothing is counted
 * twice or missed. An event says only which message has changed. The message is read in its present state, and the
 * state that was last counted for it is subtracted.
 */
async function countBatch(): Promise<number> {
  const reached = await findCounterForUpdate('reports.position');
  const { newest, purged } = await findFeedBounds();
  const after = Math.max(reached, purged);
  if (reached < purged && reached > 0)
    logger.error(
      { events: purged - reached },
      'events were deleted before the reports had counted them: rebuild the reports',
    );
  if (after >= newest) return 0;
  const upTo = Math.min(after + config.REPORT_BATCH, newest);
  const recounting = newRecounting();
  const parts = partsOf(after, upTo);
  let next = readAhead(parts[0]!);
  for (const [index, part] of parts.entries()) {
    const read = await next;
    const following = parts[index + 1];
    if (following) next = readAhead(following);
    for (const [place, channel] of channels.entries()) {
      const changes = changesOf(channel, read[place]!);
      await recounting.add(await factsOfAll(channel, changes, part), ({ id }) =>
        changes.get(id.toString('latin1'))?.counted?.toString(),
      );
    }
  }
  await recounting.store();
  await updateCounter('reports.position', upTo);
  afterCommit(() => count('report_events', {}, upTo - after));
  return upTo - after;
}

function partsOf(after: number, upTo: number): db.Positions[] {
  const parts: db.Positions[] = [];
  const size = Math.ceil(config.REPORT_BATCH / partsOfBatch);
  for (let start = after; start < upTo; start += size)
    parts.push({ after: start, upTo: Math.min(start + size, upTo) });
  return parts;
}

/** Returns the changes of each channel. If the first channel has all events, the others are not read. */
async function readChanges(part: db.Positions): Promise<db.ChangedMessage[][]> {
  const found: db.ChangedMessage[][] = [];
  let rest = part.upTo - part.after;
  for (const channel of channels) {
    const rows = rest > 0 ? await db.listChangedMessages(channel, part) : [];
    rest -= rows.length;
    found.push(rows);
  }
  return found;
}

/** Starts a read. A failure is thrown only where the result is awaited. */
function readAhead(part: db.Positions): Promise<db.ChangedMessage[][]> {
  const reading = readChanges(part);
  reading.catch(() => undefined);
  return reading;
}

// Events of these types change nothing that is counted, or belong to a message that was not sent by us.
const unheeded = new Set(['email.delayed', 'sms.received']);

/** Returns one row for each message, by its id as latin1, in the order of the events. */
function changesOf(channel: Channel, rows: db.ChangedMessage[]): Map<string, db.ChangedMessage> {
  const changes = new Map<string, db.ChangedMessage>();
  for (const row of rows) if (!unheeded.has(row.type)) changes.set(row.id.toString('latin1'), row);
  return changes;
}

/** Returns the facts in the order of the events: tags and domains get their names in that order. */
async function factsOfAll(
  channel: Channel,
  changes: Map<string, db.ChangedMessage>,
  part: db.Positions,
): Promise<Facts[]> {
  const gone = channel === 'email' ? [...changes.values()].filter(isGone) : [];
  const last = await db.listLastData(
    gone.map(({ id }) => id),
    part,
  );
  const told = new Map(
    last.map(({ id, workspaceId, data }) => [id.toString('latin1'), factsOfEvent(id, workspaceId, data)]),
  );
  return [...changes].flatMap(([key, row]) => (isGone(row) ? told.get(key) : factsOf(channel, row)) ?? []);
}

const isGone = (row: db.ChangedMessage) => row.workspace_id === null;
