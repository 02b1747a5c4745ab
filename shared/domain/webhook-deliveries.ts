import { now, nowForAll } from '../clock.ts';
import { config } from '../config.ts';
import * as system from '../db/system/webhook-deliveries.ts';
import { deliverWebhook } from '../jobs/deliver-webhook.ts';
import { count } from '../metrics.ts';
import { enqueue, isNear } from '../queue.ts';
import { postWebhook, retryAfterSeconds, type WebhookAttemptResult } from '../transports/webhook-http.ts';
import { currentVersion } from '../versions.ts';
import type { Outcome } from './email-delivery.ts';
import * as events from './events.ts';
import { signaturesOf } from './webhook-signatures.ts';
import { writeOutcome } from './write-outcome.ts';

const dayMs = 86_400_000;
/** A delivery that was not accepted this long after its event has failed, however often it was told to wait. */
const lifeMs = 7 * dayMs;

type Claimed = system.ClaimedDelivery;
type Result = Pick<system.DeliveryOutcome, 'status' | 'attempts' | 'scheduleStep' | 'dueAt'>;

/** One attempt: claim, sign, post, and write down when the next is due, if any (spec §6). */
export async function attempt(deliveryId: string): Promise<Outcome> {
  const until = new Date(now().getTime() + config.LEASE_SECONDS * 1000);
  const delivery = await system.claimDelivery({ deliveryId, at: nowForAll(), until });
  if (!delivery) return 'dropped';
  const { webhook } = delivery;
  // Deleted or switched off since: nothing is sent, and the record says so.
  if (!webhook || webhook.autoDisabled)
    return finish(delivery, until, { ...unchanged(delivery), status: 'skipped', dueAt: null }, null);

  const attemptedAt = now();
  const result = await postWebhook({
    url: webhook.url,
    body: events.envelope(delivery.event, webhook.apiVersion ?? currentVersion),
    contentType: 'application/json',
    webhookId: delivery.id,
    createdAt: attemptedAt,
    signatures: signaturesOf(webhook),
    timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
  });
  return finish(delivery, until, next(delivery, result), {
    attemptedAt,
    durationMs: result.durationMs,
    responseStatus: result.responseStatus,
    responseBody: result.responseBody,
    error: result.error,
  });
}

/** What follows from the answer: delivered, another attempt, or no more. The waits run from the attempt's end. */
function next(delivery: Claimed, result: WebhookAttemptResult): Result {
  const attempts = delivery.attempts + 1;
  if (result.error === null) return { ...unchanged(delivery), status: 'delivered', attempts, dueAt: null };
  const time = now();
  // A 429 is the customer asking us to wait, so it is not a failure and uses up no step of the schedule.
  if (result.responseStatus === 429) {
    const dueAt = new Date(time.getTime() + retryAfterSeconds(result.retryAfter, time) * 1000);
    return { ...unchanged(delivery), ...ifAlive(delivery, dueAt), attempts };
  }
  const waitSeconds = config.WEBHOOK_RETRY_SCHEDULE_SECONDS[delivery.scheduleStep];
  const scheduleStep = delivery.scheduleStep + 1;
  if (waitSeconds === undefined) return { status: 'failed', attempts, scheduleStep, dueAt: null };
  const dueAt = new Date(time.getTime() + waitSeconds * 1000);
  return { ...ifAlive(delivery, dueAt), attempts, scheduleStep };
}

function ifAlive(delivery: Claimed, dueAt: Date): Pick<Result, 'status' | 'dueAt'> {
  const isTooOld = dueAt.getTime() > delivery.event.occurredAt.getTime() + lifeMs;
  return isTooOld ? { status: 'failed', dueAt: null } : { status: 'pending', dueAt };
}

function unchanged(delivery: Claimed): Result {
  return { status: 'pending', attempts: delivery.attempts, scheduleStep: delivery.scheduleStep, dueAt: null };
}

async function finish(
  delivery: Claimed,
  leaseEnd: Date,
  result: Result,
  attempted: system.Attempt | null,
): Promise<Outcome> {
  const outcome: system.DeliveryOutcome = {
    deliveryId: delivery.id,
    token: delivery.token,
    ...result,
    parked: result.dueAt !== null && !isNear(result.dueAt),
    completedAt: result.status === 'pending' ? null : now(),
    attempt: attempted,
  };
  await writeOutcome(leaseEnd, () => system.finishDelivery(outcome));
  count('webhook_attempts', { outcome: attempted ? (attempted.error ?? 'delivered') : 'skipped' });
  if (!result.dueAt) return 'done';
  // Its job stays in the lane it is in, so after a first attempt another takes over, in the lane of retries.
  if (delivery.attempts > 0) return { retryAt: result.dueAt };
  if (isNear(result.dueAt)) wakeRetry(delivery, result.dueAt);
  return 'done';
}

function wakeRetry(delivery: Claimed, at: Date): void {
  const id = `${delivery.id}-${delivery.claims + 1}`;
  enqueue(deliverWebhook, { deliveryId: delivery.id }, { lane: 'retry', id, at });
}
