import { now, nowForAll } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import {
  updateWebhookHeard,
  updateWebhookPaused,
  updateWebhookRested,
} from '../../../db/webhooks/webhooks.system.ts';
import {
  postWebhook,
  retryAfterSeconds,
  type WebhookAttemptResult,
} from '../../../transports/webhook-http.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { logGivenUp, maxLostClaims } from '../../work/crash-loops.ts';
import { faultDelayMs, noteOwnFault, writeOutcome } from '../../work/write-outcome.ts';
import { signedHeaders } from '../signatures.ts';
import { bodyOf, madeFor } from './body.ts';
import { open, type Permit } from './concurrency-limiter.ts';
import { dueAgain, finish, noteEnd, putBack, type Result, unchanged } from './finish.ts';
import { noteOrigin } from './origins.ts';
import { endNote, notePause, stateNow, withNotedPause } from './state-now.ts';
import { isInOutage, mayBeSent } from './window.ts';

const testType = 'webhook.test';

type ClaimedWebhook = system.ClaimedWebhook;
type Delivery = system.ClaimedDelivery;

/** Makes one attempt: claims, signs, posts, and stores when the next is due, if any (API decisions §6). */
export async function attempt(deliveryId: string, place: Permit = open): Promise<WorkOutcome> {
  const until = new Date(now().getTime() + config.LEASE_SECONDS * 1000);
  const claimedFrom = performance.now();
  try {
    const delivery = await system.claimDelivery({ id: deliveryId, at: nowForAll(), until });
    return delivery ? await attemptClaimed(delivery, until, place, claimedFrom) : 'dropped';
  } finally {
    place.leave();
  }
}

async function attemptClaimed(
  delivery: Delivery,
  until: Date,
  place: Permit,
  claimedFrom: number,
): Promise<WorkOutcome> {
  const { webhook } = delivery;
  if (delivery.lostClaims > maxLostClaims) {
    logGivenUp('webhook_delivery', { deliveryId: delivery.id, webhookId: webhook?.id ?? 'deleted' });
    await finish(delivery, until, { ...unchanged(delivery), status: 'failed' }, null);
    return 'done';
  }
  if (webhook) noteOrigin(webhook.id, delivery.event.workspaceId, webhook.url);
  // A caller that asks for a test wants its result now, whatever the webhook's state is.
  const isTest = delivery.event.type === testType;
  let latest: system.Pacing | null = webhook && withNotedPause(webhook, claimedFrom);
  if (!webhook || !(isTest || isWanted(latest))) {
    await endUnsent(delivery, until, latest);
    return 'done';
  }
  // Much can happen to the webhook while a delivery waits for its slot.
  const isStillWanted = async () => {
    latest = await stateNow(webhook, claimedFrom);
    return isWanted(latest);
  };
  const posted = await ownFaultAside(delivery, until, isTest, () =>
    isTest ? post(delivery, webhook, open) : post(delivery, webhook, place, isStillWanted),
  );
  if (posted === 'fault') return 'done';
  if (!posted) {
    if (isWanted(latest)) count('webhook_deliveries_handed_back');
    await endUnsent(delivery, until, latest);
    return 'done';
  }
  await writeDown(delivery, webhook, until, posted, isTest);
  return 'done';
}

const isWanted = (webhook: system.Pacing | null) => webhook !== null && mayBeSent(webhook, nowForAll());

/** Gives a claim back without an attempt: until the pause ends, for good if the webhook is gone or switched off. */
async function endUnsent(delivery: Delivery, until: Date, webhook: system.Pacing | null): Promise<void> {
  if (!webhook || webhook.autoDisabled) {
    await finish(delivery, until, { ...unchanged(delivery), status: 'skipped', dueAt: null }, null);
    return;
  }
  const { pausedUntil } = webhook;
  await putBack(delivery, until, pausedUntil && pausedUntil > nowForAll() ? pausedUntil : now());
}

type Answered = { attemptedAt: Date; endedAt: Date; result: WebhookAttemptResult };
/** `begunAt`: a change of the webhook with a later time was made after the attempt had begun. */
type Pause = { until: Date; busyCount: number; begunAt: Date };
/** `pause`: the endpoint asked us to wait. */
type Posted = Answered & { pause: Pause | null };

/** Posts a delivery. Null: no slot came free in time, or when one did the delivery was not wanted any more. */
function post(
  delivery: Delivery,
  webhook: ClaimedWebhook,
  place: Permit,
  isStillWanted?: () => Promise<boolean>,
): Promise<Posted | null> {
  const made = madeFor(delivery, webhook, now());
  const body = bodyOf(delivery, made);
  return place.post(async () => {
    const [attemptedAt, begunAt] = [now(), nowForAll()];
    const result = await postWebhook({
      url: webhook.url,
      body,
      headers: signedHeaders(made, { body, deliveryId: delivery.id, at: attemptedAt }),
      timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
    });
    const answered = { attemptedAt, endedAt: now(), result };
    const isPaused = result.responseStatus === 429 && delivery.event.type !== testType;
    const pause = isPaused ? { ...pauseAfter(webhook, answered), begunAt } : null;
    // Before the slot is given on: the next delivery that waits for it must not begin.
    if (pause) notePause(webhook.id, pause);
    return { ...answered, pause };
  }, isStillWanted);
}

/** Puts a delivery back after a fault of our own: a secret that does not open, a body that cannot be made. */
async function ownFaultAside<T>(
  delivery: Delivery,
  until: Date,
  isTest: boolean,
  work: () => Promise<T>,
): Promise<T | 'fault'> {
  try {
    return await work();
  } catch (error) {
    noteOwnFault('webhook_delivery', error, { deliveryId: delivery.id, webhookId: delivery.webhook?.id });
    if (isTest) await finish(delivery, until, { ...unchanged(delivery), status: 'failed' }, null);
    else await putBack(delivery, until, new Date(now().getTime() + faultDelayMs));
    return 'fault';
  }
}

async function writeDown(
  delivery: Delivery,
  webhook: ClaimedWebhook,
  until: Date,
  { attemptedAt, endedAt, result, pause }: Posted,
  isTest: boolean,
): Promise<void> {
  const isSuccess = result.error === null;
  const isBusy = result.responseStatus === 429;
  if (pause) await writePause(webhook.id, until, pause);
  const isOurs = await finish(
    delivery,
    until,
    isTest ? testEnd(delivery, isSuccess) : next(delivery, endedAt, result, pause?.until ?? endedAt),
    {
      attemptedAt,
      durationMs: result.durationMs,
      responseStatus: result.responseStatus,
      responseBody: result.responseBody,
      error: result.error,
    },
  );
  // The lease had ended: the worker that has the delivery now reports on the health of its webhook.
  if (!isOurs) return;
  // After an outage the backlog is released slowly, as after a pause.
  if (isSuccess && !isTest && isInOutage(webhook)) await updateWebhookRested(webhook.id, endedAt);
  if (!isBusy && webhook.busyCount > 0) await updateWebhookHeard(webhook.id);
  // A 429 is the customer asking us to wait, so it is not a failure; and a test is no delivery of theirs.
  if (isTest || isBusy) return;
  const { workspaceId } = delivery.event;
  await noteEnd({ webhookId: webhook.id, workspaceId, host: new URL(webhook.url).host, isSuccess, endedAt });
}

/**
 * Comes before the outcome of the attempt: writing that may fail, and the pause holds even if another worker has the
 * delivery now. It only grows. While the pause is not on disk, the note of it holds it in this process.
 */
async function writePause(webhookId: string, leaseEnd: Date, pause: Pause): Promise<void> {
  try {
    await writeOutcome(leaseEnd, () => updateWebhookPaused(webhookId, pause));
    endNote(webhookId);
  } catch (error) {
    logger.warn({ err: error, webhookId }, 'the pause of a webhook could not be written');
  }
}

const longestBackoffSeconds = 300;

/**
 * Returns until when a 429 pauses the whole webhook: as long as the endpoint asks (Retry-After), and at least 1, 2, 4
 * … 300 seconds when several come in a row (API decisions §6). Attempts that were out at the same time are answered
 * together, and count once.
 */
function pauseAfter(
  { busyCount: before, pausedUntil }: ClaimedWebhook,
  { attemptedAt, endedAt, result }: Answered,
): Omit<Pause, 'begunAt'> {
  const busyCount =
    before > 0 && pausedUntil && attemptedAt < pausedUntil ? before : Math.min(before + 1, 100);
  const seconds = Math.max(
    retryAfterSeconds(result.retryAfter, endedAt),
    Math.min(longestBackoffSeconds, 2 ** (busyCount - 1)),
  );
  const until = Math.max(endedAt.getTime() + seconds * 1000, pausedUntil?.getTime() ?? 0);
  return { until: new Date(until), busyCount };
}

/** Returns the result of an answer: delivered, another attempt, or failed. The waits run from the attempt's end. */
function next(delivery: Delivery, endedAt: Date, result: WebhookAttemptResult, pausedUntil: Date): Result {
  const attempts = delivery.attempts + 1;
  if (result.error === null) return { ...unchanged(delivery), status: 'delivered', attempts };
  // A 429 uses up no step of the schedule.
  if (result.responseStatus === 429)
    return { ...unchanged(delivery), ...dueAgain(delivery, pausedUntil), attempts };
  const waitSeconds = config.WEBHOOK_RETRY_SCHEDULE_SECONDS[delivery.scheduleStep];
  const scheduleStep = delivery.scheduleStep + 1;
  if (waitSeconds === undefined) return { status: 'failed', attempts, scheduleStep, dueAt: null };
  return { ...dueAgain(delivery, new Date(endedAt.getTime() + waitSeconds * 1000)), attempts, scheduleStep };
}

/** Returns the end of a test, which is never retried: the caller sees its result, and can ask for another test. */
function testEnd(delivery: Delivery, isSuccess: boolean): Result {
  const status = isSuccess ? 'delivered' : 'failed';
  return { ...unchanged(delivery), status, attempts: delivery.attempts + 1 };
}
