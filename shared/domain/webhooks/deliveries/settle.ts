import { LRUCache } from 'lru-cache';
import { now, skewMs } from '../../../common/clock.ts';
import { forgetAtEnd } from '../../../common/closing.ts';
import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import { transaction } from '../../../db/client.ts';
import { findCounterForUpdate } from '../../../db/server/counters.system.ts';
import { listServed } from '../../../db/webhooks/deliveries/pacing.system.ts';
import * as system from '../../../db/webhooks/settlements.system.ts';
import { insertSettlement } from '../../../db/webhooks/webhooks.ts';
import { settleWebhook } from '../../../jobs/settle-webhook.ts';
import { enqueue } from '../../../queue/queue.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { againIn, turnMs } from '../../../work/turns.ts';

// Small enough that no other transaction waits long for the locked rows of a batch.
const batchSize = 500;
/** Deliveries that workers hold are checked again after this time. */
const againMs = 5_000;

/**
 * Orders that all waiting deliveries of a webhook become skipped, because it is deleted or switched off. Call it in
 * the transaction that deletes it or switches it off; a job updates the rows in batches.
 */
export async function settle(workspaceId: string, webhookId: string): Promise<void> {
  await insertSettlement(workspaceId, { webhookId, kind: 'skip', since: null, createdAt: now() });
  wakeSettlement(webhookId);
}

/** Makes a webhook's settlement job. One is enough: it does all settlements, and the sweep finds any that come late. */
export function wakeSettlement(webhookId: string): void {
  enqueue(settleWebhook, { webhookId }, { lane: 'default', id: webhookId });
}

/**
 * The place that the turns of this process have reached in a list: the last delivery, or that the list is done. A
 * recovery reads all deliveries that ever failed, so a turn must not read those of the earlier turns again. Another
 * process begins anew; it does not find deliveries that have been settled.
 */
const reached = new LRUCache<string, { after: string | null; isDone: boolean }>({ max: 1_000 });
forgetAtEnd(() => reached.clear());

/**
 * Works for a while on the settlements of a webhook. Each batch checks, in its own transaction, that the settlement is
 * still wanted.
 */
export async function settleNext(webhookId: string, longestMs = turnMs): Promise<WorkOutcome> {
  const turnEnd = performance.now() + longestMs;
  let isDone = true;
  for (const settlement of await system.listSettlements(webhookId)) {
    const end = await (settlement.kind === 'skip' ? skip : recover)(settlement, turnEnd);
    if (end === 'unfinished') return againIn(0);
    isDone = end === 'done' && isDone;
  }
  return isDone ? 'done' : againIn(againMs);
}

/** `left`: a worker still holds a delivery. `unfinished`: the turn ended before the work. */
type SettlementEnd = 'done' | 'left' | 'unfinished';

/**
 * Runs batches in the order of ids, until no ids are left or the settlement is withdrawn. Returns false where the turn
 * ends before that. `place`: the name of the list, if a later turn continues where this one ends.
 */
async function inBatches(
  settlement: system.Settlement,
  turnEnd: number,
  list: (page: { after: string | null; limit: number }) => Promise<string[]>,
  write: (deliveryIds: string[], at: Date) => Promise<unknown>,
  place?: string,
): Promise<boolean> {
  const before = place === undefined ? undefined : reached.get(place);
  const note = (after: string | null, isDone: boolean) => {
    if (place !== undefined) reached.set(place, { after, isDone });
  };
  if (before?.isDone) return true;
  for (let after = before?.after ?? null; ; ) {
    const ids = await list({ after, limit: batchSize });
    if (ids.length === 0) {
      note(after, true);
      return true;
    }
    const isWanted = await transaction(async () => {
      if (!(await system.findSettlementForUpdate(settlement))) return false;
      await write(ids, now());
      return true;
    });
    if (!isWanted) return true;
    count('webhook_deliveries_settled', { kind: settlement.kind }, ids.length);
    after = ids.at(-1)!;
    note(after, false);
    if (ids.length === batchSize && performance.now() >= turnEnd) return false;
  }
}

async function skip(settlement: system.Settlement, turnEnd: number): Promise<SettlementEnd> {
  const { webhookId } = settlement;
  if ((await listServed([webhookId])).length > 0) {
    await system.deleteSettled(settlement);
    return 'done';
  }
  const list = (page: { after: string | null; limit: number }) => system.listPending(webhookId, page);
  if (!(await inBatches(settlement, turnEnd, list, system.updateSkipped))) return 'unfinished';
  if ((await list({ after: null, limit: 1 })).length > 0) return 'left';
  await system.deleteSettled(settlement);
  return 'done';
}

async function recover(settlement: system.Settlement, turnEnd: number): Promise<SettlementEnd> {
  const { webhookId, since, createdAt } = settlement;
  // `until` leaves out deliveries that end a second time while this runs. The clock of the process that ended a
  // delivery may be ahead of the clock of the process that took the request.
  const range = { since: since ?? createdAt, until: new Date(createdAt.getTime() + skewMs) };
  // The relay may have read the webhook before it was switched on, and may still insert skipped deliveries. Its next
  // batch reads the webhook again. This waits for the relay's lock, so that its batch in progress is committed.
  await transaction(() => findCounterForUpdate('events.position'));
  // A delivery that a worker held at `until` may have ended before it, and its outcome may be written behind the place
  // that this turn has reached. So all deliveries are read once more when no worker holds such a delivery.
  const leaseEnd = new Date(createdAt.getTime() + config.LEASE_SECONDS * 1000);
  const mayMissSome = await system.isAnyHeld(webhookId, leaseEnd);
  for (const status of ['failed', 'skipped'] as const) {
    const list = (page: { after: string | null; limit: number }) =>
      system.listEnded(webhookId, status, range, page);
    // A later request has other times, so its place is another one.
    const place = [webhookId, status, range.since.getTime(), range.until.getTime(), mayMissSome].join(' ');
    if (!(await inBatches(settlement, turnEnd, list, system.updateRecovered, place))) return 'unfinished';
  }
  if (mayMissSome) return 'left';
  await system.deleteSettled(settlement);
  return 'done';
}
