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
import { signedHeaders } from '../signatures.ts';
import { bodyOf, madeFor } from './body.ts';
import { open, type Permit } from './concurrency-limiter.ts';
import { dueAgain, finish, noteEnd, putBack, type Result, unchanged } from './finish.ts';
import { noteOrigin } from './origins.ts';
import { isInOutage, mayBeSent } from './window.ts';

/** The delay after a fault of our own, which is not likely to be repaired within seconds. */
const faultDelayMs = 300_000;

type ClaimedWebhook = system.ClaimedWebhook;
type Delivery = system.ClaimedDelivery;

/** Makes one attempt: claims, signs, posts, and stores when the next is due, if any (API decisions §6). */
export async function attempt(deliveryId: string, place: Permit = open): Promise<WorkOutcome> {
  const until = new Date(now().getTime() + config.LEASE_SECONDS * 1000);
  try {
    const delivery = await system.claimDelivery({ id: deliveryId, at: nowForAll(), until });
    return delivery ? await attemptClaimed(delivery, until, place) : 'dropped';
  } finally {
    place.leave();
  }
}

async function attemptClaimed(delivery: Delivery, until: Date, place: Permit): Promise<WorkOutcome> {
  const { webhook } = delivery;
  if (delivery.lostClaims > maxLostClaims) {
    logGivenUp('webhook_delivery', { deliveryId: delivery.id, webhookId: webhook?.id ?? 'deleted' });
    await finish(delivery, until, { ...unchanged(delivery), status: 'failed' }, null);
    return 'done';
  }
  if (webhook) noteOrigin(webhook.id, delivery.event.workspaceId, webhook.url);
  // A caller that asks for a test wants its result now, whatever the webhook's state is.
  const isTest = delivery.event.type === 'webhook.test';
  // The webhook was deleted or switched off meanwhile: nothing is sent, and the delivery is stored as skipped.
  if (!webhook || (webhook.autoDisabled && !isTest)) {
    await finish(delivery, until, { ...unchanged(delivery), status: 'skipped', dueAt: null }, null);
    return 'done';
  }
  const time = nowForAll();
  if (!isTest && !mayBeSent(webhook, time)) {
    const { pausedUntil } = webhook;
    await putBack(delivery, until, pausedUntil && pausedUntil > time ? pausedUntil : now());
    return 'done';
  }
  const posted = await ownFaultAside(delivery, until, isTest, () =>
    post(delivery, webhook, isTest ? open : place),
  );
  if (posted === 'fault') return 'done';
  if (!posted) {
    count('webhook_deliveries_handed_back');
    await putBack(delivery, until, now());
    return 'done';
  }
  await writeDown(delivery, webhook, until, posted, isTest);
  return 'done';
}

type Posted = { attemptedAt: Date; endedAt: Date; result: WebhookAttemptResult };

/** Posts a delivery. Null when no slot came free in time. */
function post(delivery: Delivery, webhook: ClaimedWebhook, place: Permit): Promise<Posted | null> {
  const made = madeFor(delivery, webhook, now());
  const body = bodyOf(delivery, made);
  return place.post(async () => {
    const attemptedAt = now();
    const result = await postWebhook({
      url: webhook.url,
      body,
      headers: signedHeaders(made, { body, deliveryId: delivery.id, at: attemptedAt }),
      timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
    });
    return { attemptedAt, endedAt: now(), result };
  });
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
    count('webhook_own_faults');
    const context = { err: error, deliveryId: delivery.id, webhookId: delivery.webhook?.id };
    logger.error(context, 'a delivery cannot be made by a fault of our own');
    if (isTest) await finish(delivery, until, { ...unchanged(delivery), status: 'failed' }, null);
    else await putBack(delivery, until, new Date(now().getTime() + faultDelayMs));
    return 'fault';
  }
}

async function writeDown(
  delivery: Delivery,
  webhook: ClaimedWebhook,
  until: Date,
  { attemptedAt, endedAt, result }: Posted,
  isTest: boolean,
): Promise<void> {
  const isSuccess = result.error === null;
  const isBusy = result.responseStatus === 429;
  const pause = isBusy && !isTest ? pauseAfter(webhook, { attemptedAt, endedAt, result }) : null;
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
  if (pause) await updateWebhookPaused(webhook.id, pause.until, pause.busyCount);
  // After an outage the backlog is released slowly, as after a pause.
  if (isSuccess && !isTest && isInOutage(webhook)) await updateWebhookRested(webhook.id, endedAt);
  if (!isBusy && webhook.busyCount > 0) await updateWebhookHeard(webhook.id);
  // A 429 is the customer asking us to wait, so it is not a failure; and a test is no delivery of theirs.
  if (isTest || isBusy) return;
  const { workspaceId } = delivery.event;
  await noteEnd({ webhookId: webhook.id, workspaceId, host: new URL(webhook.url).host, isSuccess, endedAt });
}

const longestBackoffSeconds = 300;

/**
 * Returns until when a 429 pauses the whole webhook: as long as the endpoint asks (Retry-After), and at least 1, 2, 4
 * … 300 seconds when several come in a row (API decisions §6). Attempts that were out at the same time are answered
 * together, and count once.
 */
function pauseAfter(
  { busyCount: before, pausedUntil }: ClaimedWebhook,
  { attemptedAt, endedAt, result }: Posted,
): { until: Date; busyCount: number } {
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
