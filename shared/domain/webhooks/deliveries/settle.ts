import { now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { transaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/settlements.system.ts';
import { listServed } from '../../../db/webhooks/webhooks.system.ts';
import { insertSettlement } from '../../../db/webhooks/webhooks.ts';
import { settleWebhook } from '../../../jobs/settle-webhook.ts';
import { enqueue } from '../../../queue/queue.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { turnMs } from '../../../work/turns.ts';

// Small enough that nobody waits for the rows of one.
const batchSize = 500;
/** Deliveries that workers have in hand are checked again after this time. */
const againMs = 5_000;

/**
 * Has all that waits for a webhook counted as skipped, because it is gone or switched off. Belongs into the transaction
 * that does that; the rows follow in batches.
 */
export async function settle(workspaceId: string, webhookId: string): Promise<void> {
  await insertSettlement(workspaceId, { webhookId, kind: 'skip', since: null, createdAt: now() });
  wakeSettlement(webhookId);
}

/** One job for each webhook is enough: it does all there is, and what comes too late for it is found by the sweep. */
export function wakeSettlement(webhookId: string): void {
  enqueue(settleWebhook, { webhookId }, { lane: 'default', id: webhookId });
}

/**
 * Goes on for a while with what is still to be done to a webhook's deliveries. A batch stands or falls with the wish for
 * it.
 */
export async function settleNext(webhookId: string, longestMs = turnMs): Promise<WorkOutcome> {
  const turnEnd = performance.now() + longestMs;
  let isDone = true;
  for (const settlement of await system.listSettlements(webhookId)) {
    const end = await (settlement.kind === 'skip' ? skip : recover)(settlement, turnEnd);
    // Its place needs no keeping: what has been settled is not found again.
    if (end === 'unfinished') return { retryAt: now() };
    isDone = end === 'done' && isDone;
  }
  return isDone ? 'done' : { retryAt: new Date(now().getTime() + againMs) };
}

/** `left`: something is still in a worker's hand. `unfinished`: the turn is over before the work. */
type SettlementEnd = 'done' | 'left' | 'unfinished';

/**
 * Runs a batch after the other, each on the ids after the last one's, until there are no more (`done`), nobody wants it or
 * the turn ends.
 */
async function inBatches(
  settlement: system.Settlement,
  turnEnd: number,
  list: (page: { after: string | null; limit: number }) => Promise<string[]>,
  write: (deliveryIds: string[], at: Date) => Promise<unknown>,
): Promise<'done' | 'unwanted' | 'unfinished'> {
  for (let after: string | null = null; ; ) {
    const ids = await list({ after, limit: batchSize });
    if (ids.length === 0) return 'done';
    const isWanted = await transaction(async () => {
      if (!(await system.findSettlementForUpdate(settlement))) return false;
      await write(ids, now());
      return true;
    });
    if (!isWanted) return 'unwanted';
    count('webhook_deliveries_settled', { kind: settlement.kind }, ids.length);
    if (ids.length === batchSize && performance.now() >= turnEnd) return 'unfinished';
    after = ids.at(-1)!;
  }
}

async function skip(settlement: system.Settlement, turnEnd: number): Promise<SettlementEnd> {
  const { webhookId } = settlement;
  if ((await listServed([webhookId])).length > 0) {
    await system.deleteSettled(settlement);
    return 'done';
  }
  const list = (page: { after: string | null; limit: number }) => system.listPending(webhookId, page);
  const end = await inBatches(settlement, turnEnd, list, system.updateSkipped);
  if (end !== 'done') return end === 'unwanted' ? 'done' : end;
  if ((await list({ after: null, limit: 1 })).length > 0) return 'left';
  await system.deleteSettled(settlement);
  return 'done';
}

async function recover(settlement: system.Settlement, turnEnd: number): Promise<SettlementEnd> {
  const { webhookId, since, createdAt } = settlement;
  // A delivery that fails or is skipped once more while this runs is not meant.
  const range = { since: since ?? createdAt, until: createdAt };
  for (const status of ['failed', 'skipped'] as const) {
    const list = (page: { after: string | null; limit: number }) =>
      system.listEnded(webhookId, status, range, page);
    const end = await inBatches(settlement, turnEnd, list, system.updateRecovered);
    if (end !== 'done') return end === 'unwanted' ? 'done' : end;
  }
  await system.deleteSettled(settlement);
  return 'done';
}
