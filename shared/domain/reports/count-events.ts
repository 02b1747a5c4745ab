import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import { afterCommit, transaction } from '../../db/client.ts';
import { findFeedBounds } from '../../db/events/events.system.ts';
import { type Channel, channels } from '../../db/reports/counts.ts';
import * as db from '../../db/reports/messages.system.ts';
import type { Facts } from './facts.ts';
import { factsOf, factsOfEvent } from './read-facts.ts';
import { storeChanges } from './states.ts';

/** Counts what the events tell of that came since the last time, batch by batch. Returns how many events there were. */
export async function countEvents(): Promise<number> {
  let total = 0;
  for (let done = config.REPORT_BATCH; done >= config.REPORT_BATCH; ) {
    done = await transaction(countBatch);
    total += done;
  }
  return total;
}

/**
 * One batch: the position moves in the transaction that adds what it stands for, so after any kill nothing is counted
 * twice or missed. An event says only which message has changed. The message is read as it is now, and what it was last
 * counted as is taken back.
 */
async function countBatch(): Promise<number> {
  const reached = await db.findReportPositionForUpdate();
  const { newest, purged } = await findFeedBounds();
  const after = Math.max(reached, purged);
  if (reached < purged && reached > 0)
    logger.error(
      { events: purged - reached },
      'events went before the reports had counted them: rebuild the reports',
    );
  if (after >= newest) return 0;
  const upTo = Math.min(after + config.REPORT_BATCH, newest);
  const changed = await db.listMessageChanges(after, upTo);
  for (const channel of channels) {
    const ids = idsOf(channel, changed);
    if (ids.size === 0) continue;
    // How they were counted comes from the server while they are looked at as they are now.
    const [messages, states] = await Promise.all([
      listChanged(channel, ids, { after, upTo }),
      db.listStates([...ids.values()]),
    ]);
    await storeChanges(messages, states);
  }
  await db.updateReportPosition(upTo);
  afterCommit(() => count('report_events', {}, upTo - after));
  return upTo - after;
}

// They change nothing that is counted, or are not of a message that was sent.
const unheeded = new Set(['email.delayed', 'sms.received']);

/** Of the messages of a channel, in the order of their events, by themselves as latin1. */
function idsOf(channel: Channel, changed: db.MessageChange[]): Map<string, Buffer> {
  const ids = new Map<string, Buffer>();
  for (const { type, id } of changed)
    if (type.startsWith(channel) && !unheeded.has(type)) ids.set(id.toString('latin1'), id);
  return ids;
}

async function listChanged(
  channel: Channel,
  ids: Map<string, Buffer>,
  range: { after: number; upTo: number },
): Promise<Facts[]> {
  const rows = await db.listReportedMessages(channel, [...ids.values()]);
  const found = new Map(rows.map((row) => [row.id.toString('latin1'), factsOf(channel, row)]));
  if (channel === 'email') {
    const gone = [...ids].filter(([key]) => !found.has(key)).map(([, id]) => id);
    for (const { id, workspaceId, data } of await db.listLastData(gone, range))
      found.set(id.toString('latin1'), factsOfEvent(id, workspaceId, data));
  }
  // In the order of their events, by which tags and domains get their names.
  return [...ids.keys()].flatMap((key) => found.get(key) ?? []);
}
