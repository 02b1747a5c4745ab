import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import * as system from '../../db/system/webhook-deliveries.ts';
import { count } from '../../metrics.ts';
import { wake } from './lanes.ts';
import { isInOutage, windowOf } from './window.ts';

// Of one statement.
const mostRows = 5_000;
const mostWebhooks = 100;
/** What is due no later than in this time counts as due. */
const soonMs = 5_000;
/** So many deliveries further on, one of them looks for more when it is done. */
const lookEvery = 200;

/**
 * Who asks for it, and the part of the window that must be free: the fewer the times, the more there is to let in each
 * time. With half of it taken some of those who hold it will ask (`more`), so the relay need not.
 */
const leastFree = { sweep: 0, delivery: 0.2, relay: 0.5 };

/** `isFull`: some have no room, though they may have more than nothing. */
type Refilled = { admitted: number; isFull: boolean };
type Room = { webhookId: string; window: number; room: number; forLater: number };

/**
 * Lets deliveries of these webhooks into Redis, first due first, as far as there is room. Where something stays behind,
 * some of those that are let in bring on the next (`more`), so that a busy webhook does not wait for the sweep. Where
 * nothing is known to be working again (an outage), only the sweep does, at its own pace.
 */
export async function refill(webhookIds: string[], by: keyof typeof leastFree): Promise<Refilled> {
  const time = now();
  const admissions = await system.listAdmissions(webhookIds);
  const asked = admissions.filter((webhook) => by === 'sweep' || !isInOutage(webhook));
  const rooms = roomsOf(asked, time).filter(({ window }) => window > 0);
  const free = rooms.filter(({ window, room }) => room > 0 && room >= leastFree[by] * window);
  let admitted = 0;
  for (const group of inGroups(free)) admitted += await letIn(group, time);
  return { admitted, isFull: free.length < rooms.length };
}

function roomsOf(webhooks: system.Admission[], time: Date): Room[] {
  return webhooks.map((webhook) => {
    const window = windowOf(webhook, time);
    return {
      webhookId: webhook.webhookId,
      window,
      room: window - webhook.admitted,
      // What is due much later must leave room for what comes up before it.
      forLater: Math.ceil(window / 2) - webhook.admitted,
    };
  });
}

function inGroups(rooms: Room[]): Room[][] {
  const groups: Room[][] = [];
  let rows = mostRows;
  for (const room of rooms) {
    rows += room.room;
    if (rows > mostRows || groups.at(-1)!.length >= mostWebhooks) {
      groups.push([]);
      rows = room.room;
    }
    groups.at(-1)!.push(room);
  }
  return groups;
}

async function letIn(rooms: Room[], time: Date): Promise<number> {
  const near = new Date(time.getTime() + config.WAKE_AHEAD_SECONDS * 1000);
  const limits = rooms.map(({ webhookId, room }) => ({ webhookId, limit: room }));
  const found = Map.groupBy(await system.listDueOf(limits, true, near), ({ webhookId }) => webhookId);
  if (found.size === 0) return 0;
  // Counted again, after they were listed: two who do this at once then let in the same ones, or no more than there is
  // room for.
  const rest = roomsOf(await system.listAdmissions([...found.keys()]), time);
  const soon = time.getTime() + soonMs;
  const turns = rest.flatMap(({ webhookId, window, room, forLater }) => {
    const listed = found.get(webhookId) ?? [];
    const first = listed
      .slice(0, Math.max(0, room))
      .filter(({ dueAt }, index) => dueAt.getTime() <= soon || index < forLater);
    // After many, more may have come by the time that they are done.
    return withMore(
      first,
      first.length < listed.length || first.length >= room || first.length > window / 10,
    );
  });
  if (turns.length === 0) return 0;
  // Before the jobs, so that two who do this at once let in the same ones, and the second knows it.
  const admitted = await system.updateAdmitted(
    turns.map(({ id }) => id),
    time,
  );
  if (admitted === 0) return 0;
  const missed = await wake(
    turns.map((turn) => ({ ...turn, claims: turn.claims + 1, dueAt: turn.dueAt > time ? turn.dueAt : time })),
  );
  if (missed.length > 0) await system.updateParked(missed.map(({ id }) => id));
  count('webhook_deliveries_admitted', {}, admitted);
  return admitted;
}

/** Marks some, and the last, of those that are let in while others may stay behind. */
function withMore<T extends object>(turns: T[], staysBehind: boolean): (T & { more: boolean })[] {
  return turns.map((turn, index) => ({
    ...turn,
    more: staysBehind && (index === turns.length - 1 || (index + 1) % lookEvery === 0),
  }));
}
