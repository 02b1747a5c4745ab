import { fromNow, now, nowForAll } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { parsedUrl } from '../../../common/parsed-url.ts';
import { config } from '../../../config/config.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import { updateWebhookRested } from '../../../db/webhooks/settlements.ts';
import { updateWebhookHeard, updateWebhookPaused } from '../../../db/webhooks/webhooks.system.ts';
import {
  postWebhook,
  retryAfterSeconds,
  type WebhookAttemptResult,
} from '../../../transports/webhook-http.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { isCrashLoop, logGivenUp } from '../../work/crash-loops.ts';
import { faultDelayMs, noteOwnFault, writeOutcome } from '../../work/write-outcome.ts';
import { signedHeaders } from '../signatures.ts';
import { bodyOf, madeFor } from './body.ts';
import { open, type Permit } from './concurrency-limiter.ts';
import { dueAgain, finish, type LeasedDelivery, noteEnd, putBack, type Result, unchanged } from './finish.ts';
import { noteOrigin } from './origins.ts';
import { endNote, momentOf, notePause, type Pause, stateNow, withNotedPause } from './state-now.ts';
import { isInOutage, mayBeSent } from './window.ts';

type ClaimedWebhook = system.ClaimedWebhook;

/**
 * Makes one attempt: claims, signs, posts, and stores when the next is due, if any (API decisions §6). `isStalled`: the
 * job was another worker's before.
 */
export async function attempt(
  deliveryId: string,
  place: Permit = open,
  isStalled = false,
): Promise<WorkOutcome> {
  const leaseEnd = fromNow(config.LEASE_SECONDS * 1000);
  const claimedFrom = performance.now();
  try {
    const claimed = await system.claimDelivery({
      id: deliveryId,
      at: nowForAll(),
      until: leaseEnd,
      onlyFree: isStalled,
    });
    if (!claimed) return 'dropped';
    await attemptClaimed({ ...claimed, leaseEnd }, place, claimedFrom);
    return 'done';
  } finally {
    place.leave();
  }
}

async function attemptClaimed(delivery: LeasedDelivery, place: Permit, claimedFrom: number): Promise<void> {
  const { webhook } = delivery;
  if (isCrashLoop(delivery.lostClaims)) {
    logGivenUp('webhook_delivery', { deliveryId: delivery.id, webhookId: webhook?.id ?? 'deleted' });
    await finish(delivery, { ...unchanged(delivery), status: 'failed' });
    return;
  }
  if (webhook) noteOrigin(webhook.id, delivery.event.workspaceId, webhook.url);
  let latest: system.WebhookState | null = webhook && withNotedPause(webhook, claimedFrom);
  // A caller that asks for a test wants its result now, whatever the webhook's state is.
  if (!webhook || !(isTest(delivery) || isWanted(latest))) return endUnsent(delivery, latest);
  // Much can happen to the webhook while a delivery waits for its slot.
  const isStillWanted = async () => {
    latest = await stateNow(webhook, claimedFrom);
    return isWanted(latest) && !isOutdated(webhook, latest);
  };
  let posted: Posted | null;
  try {
    posted = await post(delivery, webhook, isTest(delivery) ? open : place, isStillWanted);
  } catch (error) {
    return putAside(delivery, error);
  }
  if (posted) return writeDown(delivery, webhook, posted);
  if (isWanted(latest)) count('webhook_deliveries_handed_back');
  await endUnsent(delivery, latest);
}

const isTest = ({ event }: LeasedDelivery) => event.type === 'webhook.test';

const isWanted = (webhook: system.Pacing | null) => webhook !== null && mayBeSent(webhook, nowForAll());

/**
 * Returns whether the webhook has another URL or another secret since the claim read it; the next claim reads the new
 * ones. A state that is older than the claim does not count. Each new URL comes with a later `pauseEndedAt`, so the two
 * can be told apart.
 */
const isOutdated = (claimed: ClaimedWebhook, state: system.WebhookState | null) =>
  state !== null &&
  (state.secretVersion > claimed.secretVersion ||
    (state.url !== claimed.url && Number(state.pauseEndedAt) > Number(claimed.pauseEndedAt)));

/**
 * Ends a claim without an attempt. The delivery waits until the pause ends. It is skipped if the webhook is deleted or
 * switched off.
 */
async function endUnsent(delivery: LeasedDelivery, webhook: system.Pacing | null): Promise<void> {
  if (!webhook || webhook.autoDisabled) {
    await finish(delivery, { ...unchanged(delivery), status: 'skipped' });
    return;
  }
  const { pausedUntil } = webhook;
  await putBack(delivery, pausedUntil && pausedUntil > nowForAll() ? pausedUntil : now());
}

/** `begunAt`: the start of the request by `nowForAll`, for comparison with times that other processes write. */
type Answered = { attemptedAt: Date; begunAt: Date; endedAt: Date; result: WebhookAttemptResult };
/** `pause`: the endpoint asked us to wait. */
type Posted = Answered & { pause: Pause | null };

/**
 * Posts a delivery. Returns null if no slot came free in time, or if the delivery was not wanted any more when one did.
 */
function post(
  delivery: LeasedDelivery,
  webhook: ClaimedWebhook,
  place: Permit,
  isStillWanted: () => Promise<boolean>,
): Promise<Posted | null> {
  const made = madeFor(delivery, webhook, now());
  const body = bodyOf(delivery, made);
  return place.post(async (hasWaited) => {
    if (hasWaited && !(await isStillWanted())) return null;
    const [attemptedAt, begunAt] = [now(), nowForAll()];
    const result = await postWebhook({
      url: webhook.url,
      body,
      headers: signedHeaders(made, { body, deliveryId: delivery.id, at: attemptedAt }),
      timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
    });
    const answered = { attemptedAt, begunAt, endedAt: now(), result };
    const isPaused = result.responseStatus === 429 && !isTest(delivery);
    const pause = isPaused ? pauseAfter(webhook, answered) : null;
    // Note the pause before the slot is free: the next delivery that waits for the slot must not begin.
    if (pause) notePause(webhook.id, pause);
    return { ...answered, pause };
  });
}

/** Puts a delivery back after a fault of our own: a secret that does not open, a body that cannot be made. */
async function putAside(delivery: LeasedDelivery, error: unknown): Promise<void> {
  noteOwnFault('webhook_delivery', error, { deliveryId: delivery.id, webhookId: delivery.webhook?.id });
  if (isTest(delivery)) await finish(delivery, { ...unchanged(delivery), status: 'failed' });
  else await putBack(delivery, fromNow(faultDelayMs));
}

async function writeDown(
  delivery: LeasedDelivery,
  webhook: ClaimedWebhook,
  { attemptedAt, endedAt, result, pause }: Posted,
): Promise<void> {
  const isSuccess = result.error === null;
  const isBusy = result.responseStatus === 429;
  const waitsUntil = pause ? await writePause(webhook.id, delivery.leaseEnd, pause) : endedAt;
  const { durationMs, responseStatus, responseBody, error } = result;
  const isOurs = await finish(delivery, next(delivery, endedAt, result, waitsUntil), {
    attemptedAt,
    durationMs,
    responseStatus,
    responseBody,
    error,
  });
  // The lease had ended: the worker that has the delivery now reports on the health of its webhook.
  if (!isOurs) return;
  const { workspaceId } = delivery.event;
  // After an outage the backlog is released slowly, as after a pause.
  if (isSuccess && !isTest(delivery) && isInOutage(webhook))
    await updateWebhookRested(workspaceId, webhook.id, endedAt);
  if (!isBusy && webhook.busyCount > 0) await updateWebhookHeard(webhook.id);
  // A 429 is the customer asking us to wait, so it is not a failure; and a test is no delivery of theirs.
  if (isTest(delivery) || isBusy) return;
  await noteEnd({
    webhookId: webhook.id,
    workspaceId,
    host: parsedUrl(webhook.url).host,
    isSuccess,
    endedAt,
  });
}

/**
 * Stores the pause of a webhook. This comes before the outcome of the attempt: writing the outcome may fail, and the
 * pause counts even if another worker has the delivery now. A pause only gets longer. Until it is stored, the note of
 * it (state-now.ts) holds in this process. Returns until when the delivery waits: only for a moment, if the customer
 * has ended the pause since.
 */
async function writePause(webhookId: string, leaseEnd: Date, pause: Pause): Promise<Date> {
  try {
    const holds = await writeOutcome(leaseEnd, () => updateWebhookPaused(webhookId, pause));
    endNote(webhookId, pause);
    return holds ? pause.until : momentOf(pause);
  } catch (error) {
    logger.warn({ err: error, webhookId }, 'the pause of a webhook could not be written');
    return pause.until;
  }
}

const longestBackoffSeconds = 300;

/**
 * Returns until when a 429 pauses the whole webhook: as long as the endpoint asks (Retry-After), and at least 1, 2, 4 …
 * 300 seconds when several come in a row (API decisions §6). Answers to attempts that were open at the same time count
 * once.
 */
function pauseAfter(
  { busyCount: before, pausedUntil, url }: ClaimedWebhook,
  { attemptedAt, begunAt, endedAt, result }: Answered,
): Pause {
  const busyCount =
    before > 0 && pausedUntil && attemptedAt < pausedUntil ? before : Math.min(before + 1, 100);
  const seconds = Math.max(
    retryAfterSeconds(result.retryAfter, endedAt),
    Math.min(longestBackoffSeconds, 2 ** (busyCount - 1)),
  );
  const until = Math.max(endedAt.getTime() + seconds * 1000, pausedUntil?.getTime() ?? 0);
  return { until: new Date(until), busyCount, begunAt, url };
}

/** Returns the result of an answer: delivered, another attempt, or failed. The waits run from the attempt's end. */
function next(
  delivery: LeasedDelivery,
  endedAt: Date,
  result: WebhookAttemptResult,
  pausedUntil: Date,
): Result {
  const attempted = { ...unchanged(delivery), attempts: delivery.attempts + 1 };
  if (result.error === null) return { ...attempted, status: 'delivered' };
  // A test is never tried again: the caller sees its result, and can ask for another test.
  if (isTest(delivery)) return { ...attempted, status: 'failed' };
  // A 429 uses up no step of the schedule.
  if (result.responseStatus === 429) return { ...attempted, ...dueAgain(delivery, pausedUntil) };
  const waitSeconds = config.WEBHOOK_RETRY_SCHEDULE_SECONDS[delivery.scheduleStep];
  const tried = { ...attempted, scheduleStep: delivery.scheduleStep + 1 };
  if (waitSeconds === undefined) return { ...tried, status: 'failed' };
  return { ...tried, ...dueAgain(delivery, new Date(endedAt.getTime() + waitSeconds * 1000)) };
}
