import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { transaction } from '../../db/client.ts';
import { listCountsOfHour, listLatenciesOfHour, replaceByParts } from '../../db/reports/counts.system.ts';
import { type Channel, channels } from '../../db/reports/counts.ts';
import * as db from '../../db/reports/messages.system.ts';
import { findCounterForUpdate } from '../../db/server/counters.system.ts';
import { idToBytes } from '../../formats/ids.ts';
import { encode, type Facts } from './facts.ts';
import { nameAll } from './names.ts';
import { endOf, hourOf, startOf, timeOf } from './pieces.ts';
import { factsOf } from './read-facts.ts';
import { newTally } from './tally.ts';

type Rebuilt = {
  /** Hours that were counted anew from their messages, email and SMS each. */
  hours: number;
  /** Hours that were left as they are, because messages of them are no longer kept. */
  left: number;
  messages: number;
};

type Accepted = Awaited<ReturnType<typeof db.listAcceptedMessages<Channel>>>;

const rowsAtOnce = 2_000;

/**
 * Counts the messages of a workspace again, hour by hour, from the messages themselves; for the operator. The consumer
 * of events waits only while an hour is counted, and continues between hours.
 */
export async function rebuild(workspaceId: string, from: Date, to: Date): Promise<Rebuilt> {
  const total: Rebuilt = { hours: 0, left: 0, messages: 0 };
  const [first, end] = [hourOf(from), Math.min(hourOf(to), hourOf(now()) + 1)];
  for (const channel of channels) {
    const kept = firstKept(channel);
    const start = Math.max(first, kept);
    total.left += Math.max(0, Math.min(kept, end) - first);
    for (let hour = start; hour < end; hour += 1) {
      const messages = await transaction(() => rebuildHour(workspaceId, channel, hour));
      if (messages === null) total.left += 1;
      else {
        total.hours += 1;
        total.messages += messages;
      }
    }
    await addUp(workspaceId, channel, start, end);
  }
  return total;
}

/** Returns the first hour whose messages are all kept, and that retention does not reach soon. */
export function firstKept(channel: Channel): number {
  const days = channel === 'email' ? config.EMAIL_RETENTION_DAYS : config.SMS_RETENTION_DAYS;
  return hourOf(new Date(now().getTime() - days * 86_400_000)) + 2;
}

/**
 * Counts an hour again and returns the number of its messages. Where some are gone, returns null and changes nothing.
 */
export async function rebuildHour(
  workspaceId: string,
  channel: Channel,
  start: number,
): Promise<number | null> {
  const stretch = { from: timeOf(start), to: timeOf(start + 1) };
  await findCounterForUpdate('reports.position');
  if (await db.findHasGone(workspaceId, channel, stretch)) return null;
  const tally = newTally();
  const hour = { workspaceId, channel, start };
  const id = idToBytes(workspaceId);
  tally.subtract(
    { workspaceId: id, workspace: id.toString('latin1'), hour: start, channel },
    await listCountsOfHour(hour),
    await listLatenciesOfHour(hour),
  );
  let messages = 0;
  let after: Buffer | null = null;
  do {
    const page: Accepted = await db.listAcceptedMessages(workspaceId, channel, stretch, after, rowsAtOnce);
    const found = page.rows.flatMap((row) => factsOf(channel, row) ?? []);
    await remember(found);
    const nameOf = await nameAll(found.map((facts) => ({ facts, before: null })));
    for (const facts of found) tally.add(facts, null, nameOf);
    messages += found.length;
    after = page.reached;
  } while (after !== null);
  await tally.store();
  return messages;
}

/** Stores how these messages are counted, where that has changed; mostly it has not. */
async function remember(messages: Facts[]): Promise<void> {
  const states = await db.listStates(messages.map(({ id }) => id));
  await db.updateStates(
    messages.flatMap(({ id, workspaceId, channel, standing }) => {
      const counted = encode(channel, standing);
      return states.get(id.toString('latin1')) === counted ? [] : [{ id, workspaceId, counted }];
    }),
  );
}

/** Makes the days and months of these hours anew from the hours. */
async function addUp(workspaceId: string, channel: Channel, first: number, end: number): Promise<void> {
  for (const span of ['day', 'month'] as const)
    for (let start = startOf(span, first); start < end; start = endOf(span, start))
      await transaction(async () => {
        await findCounterForUpdate('reports.position');
        await replaceByParts(workspaceId, channel, { span, start, end: endOf(span, start) });
      });
}

/** Returns the time from which on all messages of at least one channel are kept. */
export function oldestKept(): Date {
  return timeOf(Math.min(...channels.map(firstKept)));
}
