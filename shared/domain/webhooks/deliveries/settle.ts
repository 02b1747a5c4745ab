import { now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { transaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/settlements.system.ts';
import { listServed } from '../../../db/webhooks/webhooks.system.ts';
import { insertSettlement } from '../../../db/webhooks/webhooks.ts';
import { settleWebhook } from '../../../jobs/settle-webhook.ts';
import { enqueue } from '../../../queue/queue.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';

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

/** Does what is still to be done to a webhook's deliveries. A batch stands or falls with the wish for it. */
export async function settleNext(webhookId: string): Promise<WorkOutcome> {
  let isDone = true;
  for (const settlement of await system.listSettlements(webhookId))
    isDone = (settlement.kind === 'skip' ? await skip(settlement) : await recover(settlement)) && isDone;
  return isDone ? 'done' : { retryAt: new Date(now().getTime() + againMs) };
}

/** Runs a batch after the other, each on the ids after the last one's, until there are no more or nobody wants it. */
async function inBatches(
  settlement: system.Settlement,
  list: (page: { after: string | null; limit: number }) => Promise<string[]>,
  write: (deliveryIds: string[], at: Date) => Promise<unknown>,
): Promise<boolean> {
  for (let after: string | null = null; ; ) {
    const ids = await list({ after, limit: batchSize });
    if (ids.length === 0) return true;
    const isWanted = await transaction(async () => {
      if (!(await system.findSettlementForUpdate(settlement))) return false;
      await write(ids, now());
      return true;
    });
    if (!isWanted) return false;
    count('webhook_deliveries_settled', { kind: settlement.kind }, ids.length);
    after = ids.at(-1)!;
  }
}

/** False when something is still in a worker's hand. */
async function skip(settlement: system.Settlement): Promise<boolean> {
  const { webhookId } = settlement;
  if ((await listServed([webhookId])).length > 0) {
    await system.deleteSettled(settlement);
    return true;
  }
  const list = (page: { after: string | null; limit: number }) => system.listPending(webhookId, page);
  if (!(await inBatches(settlement, list, system.updateSkipped))) return true;
  if ((await list({ after: null, limit: 1 })).length > 0) return false;
  await system.deleteSettled(settlement);
  return true;
}

async function recover(settlement: system.Settlement): Promise<boolean> {
  const { webhookId, since, createdAt } = settlement;
  // A delivery that fails or is skipped once more while this runs is not meant.
  const range = { since: since ?? createdAt, until: createdAt };
  for (const status of ['failed', 'skipped'] as const) {
    const list = (page: { after: string | null; limit: number }) =>
      system.listEnded(webhookId, status, range, page);
    if (!(await inBatches(settlement, list, system.updateRecovered))) return true;
  }
  await system.deleteSettled(settlement);
  return true;
}
