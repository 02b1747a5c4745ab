import { batcher } from '../../../common/batcher.ts';
import { now } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { outsideTransaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import { writeOutcome } from '../../work/write-outcome.ts';
import * as webhookHealth from '../health/health.ts';
import { lifeMs } from './expire.ts';

export type LeasedDelivery = system.ClaimedDelivery & { leaseEnd: Date };
export type Result = Pick<system.DeliveryOutcome, 'status' | 'attempts' | 'scheduleStep' | 'dueAt'>;

/**
 * Stores the outcome of a claimed delivery. A delivery that is due again waits in its row until there is room for it.
 * Returns false, and changes nothing, when the lease was lost.
 */
export async function finish(
  delivery: LeasedDelivery,
  result: Result,
  attempt: system.Attempt | null = null,
): Promise<boolean> {
  const isPending = result.status === 'pending';
  const outcome: system.DeliveryOutcome = {
    deliveryId: delivery.id,
    token: delivery.token,
    claims: delivery.claims,
    ...result,
    parked: isPending,
    completedAt: isPending ? null : now(),
    attempt,
  };
  const isOurs = await writeOutcome(delivery.leaseEnd, () => system.finishDelivery(outcome));
  if (attempt) count('webhook_attempts', { outcome: attempt.error ?? 'delivered' });
  else if (result.status === 'skipped') count('webhook_attempts', { outcome: 'skipped' });
  return isOurs;
}

export function unchanged({ attempts, scheduleStep }: LeasedDelivery): Result {
  return { status: 'pending', attempts, scheduleStep, dueAt: null };
}

/** Makes a delivery due again, or failed if too old by then: since its event, or since it was sent again on request. */
export function dueAgain(delivery: LeasedDelivery, dueAt: Date): Pick<Result, 'status' | 'dueAt'> {
  const since = delivery.restartedAt ?? delivery.event.occurredAt;
  const isTooOld = dueAt.getTime() > since.getTime() + lifeMs();
  return isTooOld ? { status: 'failed', dueAt: null } : { status: 'pending', dueAt };
}

/** Ends a turn in which nothing was sent. */
export async function putBack(delivery: LeasedDelivery, dueAt: Date): Promise<void> {
  await finish(delivery, { ...unchanged(delivery), ...dueAgain(delivery, dueAt) });
}

/** Tells the webhook's health how an attempt has ended. The outcome is on disk, so a fault here costs no delivery. */
export async function noteEnd(end: webhookHealth.AttemptEnd): Promise<void> {
  try {
    await outsideTransaction(() => notes(end));
  } catch (error) {
    count('webhook_notes_lost');
    logger.warn(
      { err: error, webhookId: end.webhookId },
      'the end of a delivery attempt could not be stored',
    );
  }
}

/** A note is not urgent, and one statement serves many. A longer rest would keep jobs from others. */
const restMs = 50;

const notes = batcher<webhookHealth.AttemptEnd, void>({
  maxItems: 500,
  maxInFlight: 1,
  restMs,
  run: async (ends) => {
    await webhookHealth.note(ends);
    return ends.map(() => undefined);
  },
});
