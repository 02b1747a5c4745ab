import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import * as system from '../../db/system/webhook-deliveries.ts';
import * as settlements from '../../db/system/webhook-settlements.ts';
import { listServed } from '../../db/system/webhooks.ts';
import { oneByOne } from '../retry-times.ts';
import { rounds } from '../rounds.ts';
import { passedLanes, wakeAlone } from './lanes.ts';
import { refill } from './refill.ts';
import { wakeSettlement } from './settle.ts';

// Webhooks at a time.
const pageSize = 500;
// Of lost jobs, in one run: shared out among the webhooks that miss some.
const mostLost = 5_000;
const fewestLost = 10;
// Let in by one run; the rest is brought on by the deliveries themselves, and by the next run.
const mostLetIn = 20_000;
const letInAtOnce = 100;
const mostSettlements = 100;

const lostRound = rounds({
  id: 'webhookId',
  list: (after, limit) => system.listWebhooksWaiting(false, after, limit),
  pageSize,
  most: mostLost,
});
const parkedRound = rounds({
  id: 'webhookId',
  list: (after, limit) => system.listWebhooksWaiting(true, after, limit),
  pageSize,
  most: mostLetIn,
});

/** Names another job beside the one that a row has, where that is not trusted to run; see the sweep of emails. */
type JobSuffix = (dueAt: Date) => string;

/**
 * Makes again the jobs of deliveries that have been due for a while: a flushed Redis, a dead worker. Each has one of its
 * own then, so those that wait in a job with others must not be among them.
 */
export function wakeLost(overdueBefore: Date, suffixOf: JobSuffix): Promise<number> {
  return lostRound(overdueBefore, async (webhookIds, left) => {
    // Before the rows are read: a lane that goes on meanwhile must not seem to have left them behind.
    const hasPassed = await passedLanes();
    const limit = Math.max(fewestLost, Math.floor(left / webhookIds.length));
    const overdue = await system.listDueOf(
      webhookIds.map((webhookId) => ({ webhookId, limit })),
      false,
      overdueBefore,
    );
    const lost = overdue
      .map((delivery) => ({ ...delivery, suffix: suffixOf(delivery.dueAt) }))
      .filter((delivery) => delivery.isLeft || delivery.suffix !== '' || hasPassed(delivery));
    await wakeAlone(
      lost.map((delivery) => ({
        ...delivery,
        dueAt: delivery.isLeft ? oneByOne(now()) : delivery.dueAt,
        more: false,
      })),
    );
    return overdue.length;
  });
}

/** Lets in what has waited for its time or for room; what waits for a webhook that is no more is settled. */
export function letInParked(): Promise<number> {
  const near = new Date(now().getTime() + config.WAKE_AHEAD_SECONDS * 1000);
  return parkedRound(near, async (webhookIds) => {
    const served = new Set(await listServed(webhookIds));
    await settlements.insertSkips(
      webhookIds.filter((webhookId) => !served.has(webhookId)),
      now(),
    );
    const ids = [...served];
    let done = 0;
    for (let start = 0; start < ids.length; start += letInAtOnce)
      done += (await refill(ids.slice(start, start + letInAtOnce), 'sweep')).admitted;
    return done;
  });
}

/** Makes the jobs of settlements that are not yet done. */
export async function wakeSettlements(): Promise<number> {
  const webhookIds = await settlements.listWebhooksToSettle(mostSettlements);
  for (const webhookId of webhookIds) wakeSettlement(webhookId);
  return webhookIds.length;
}
