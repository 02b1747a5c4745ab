import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { batcher } from '../../../common/batcher.ts';
import { now, nowForAll } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count, gauge } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import { outsideTransaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import { updateWebhooksSlowed } from '../../../db/webhooks/webhooks.system.ts';
import { updateParked } from '../../../db/work/admission.system.ts';
import type { deliverWebhook } from '../../../jobs/deliver-webhook.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { workOnEach } from '../../../work/shared-jobs.ts';
import { attempt } from './attempt.ts';
import { createConcurrencyLimiter, open } from './concurrency-limiter.ts';
import { originOf } from './origins.ts';
import { refillTogether } from './refill.ts';
import { restForHalf, windowOf } from './window.ts';

const limiter = createConcurrencyLimiter({
  get perWebhook() {
    return config.WEBHOOK_IN_FLIGHT_PER_WEBHOOK;
  },
  get inFlight() {
    return config.WEBHOOK_CONCURRENCY;
  },
  // The rest of the claimed jobs is for endpoints that answer quickly.
  get inAll() {
    return 1.25 * config.WEBHOOK_CONCURRENCY;
  },
  get ahead() {
    return jobConcurrency();
  },
  get waiting() {
    return jobConcurrency() / 2;
  },
  longestWaitMs: 10_000,
  patienceMs: 1_500,
  get isSaturated() {
    return loopUtilization() >= saturated;
  },
});

gauge('webhook_requests_out', () => limiter.counts().inFlight);
gauge('webhook_deliveries_waiting', () => limiter.counts().waiting);

const saturated = 0.95;
const sampleMs = 200;
let sampled = { at: 0, loop: performance.eventLoopUtilization(), utilization: 0 };

/** Returns the part of the time that the event loop was busy lately. Each job asks, so the sample is never old. */
function loopUtilization(): number {
  const at = performance.now();
  if (at - sampled.at >= sampleMs) {
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, sampled.loop);
    sampled = { at, loop, utilization };
  }
  return sampled.utilization;
}

/** Returns how many jobs a lane of a process takes: more than its requests, as some are being claimed or stored. */
export function jobConcurrency(): number {
  return Math.ceil(1.5 * config.WEBHOOK_CONCURRENCY);
}

type WebhookTurn = z.infer<typeof deliverWebhook.payload>;

/**
 * Runs a job: some deliveries of one webhook, each on its own. Each is attempted as soon as the webhook has a slot, or
 * goes back to wait in its row. After a fault of our own the job is retried; its other deliveries are done then.
 */
export async function deliver(
  { deliveryId, webhookId, more, others = [] }: WebhookTurn,
  isStalled = false,
): Promise<WorkOutcome> {
  loopUtilization();
  if (more && !wanted.has(webhookId)) wanted.set(webhookId, performance.now());
  const share = 1 / (1 + others.length);
  const rest = others.map((other) => ({ id: other.deliveryId, requestId: other.requestId }));
  const { outcomes: all, fault } = await workOnEach(deliveryId, rest, (id) =>
    deliverOne(id, webhookId, share, isStalled),
  );
  const outcomes = all.filter((outcome) => outcome !== null);
  // Earlier jobs may have looked for room while these deliveries still took it up; perhaps no later job looks.
  if (more && outcomes.length > 0) await admitNext(webhookId);
  if (fault) throw fault;
  return outcomes.includes('done') ? 'done' : 'dropped';
}

/** Null: there was no place for the delivery, and it was handed back. */
async function deliverOne(
  deliveryId: string,
  webhookId: string,
  share: number,
  isStalled: boolean,
): Promise<WorkOutcome | null> {
  const place = await limiter.enter(webhookId, await originOf(webhookId), share);
  if (!place && (await outsideTransaction(() => handBack({ deliveryId, webhookId })))) return null;
  const outcome = await attempt(deliveryId, place ?? open, isStalled);
  const triedAt = wanted.get(webhookId);
  if (triedAt !== undefined && performance.now() - triedAt >= tryEveryMs) await admitNext(webhookId);
  return outcome;
}

/** Webhooks for which more deliveries are to be admitted, with the time of the last try. */
const wanted = new LRUCache<string, number>({ max: 10_000 });
const tryEveryMs = 100;

/** Admits deliveries that wait for room in Redis. While there is no room, deliveries that end later try again. */
async function admitNext(webhookId: string): Promise<void> {
  wanted.set(webhookId, performance.now());
  try {
    const isFull = await refillOne(webhookId);
    if (!isFull) wanted.delete(webhookId);
  } catch (error) {
    // The delivery itself has ended, so this failure must not reach its job.
    logger.debug({ err: error, webhookId }, 'the next deliveries are left to the sweep');
  }
}

/** Webhooks that ask within this time are refilled together. */
const refillsEveryMs = 25;
const refillOne = refillTogether('delivery', refillsEveryMs);

/**
 * Makes the row wait again, without an attempt or a claim; the delivery comes back in the retry lane. Returns false
 * for a test, which need not wait: its webhook may get no room until it is switched on.
 */
const handBack = batcher<{ deliveryId: string; webhookId: string }, boolean>({
  maxItems: 200,
  maxInFlight: 1,
  run: async (all) => {
    const tests = new Set(await system.listTests(all.map(({ deliveryId }) => deliveryId)));
    const items = all.filter(({ deliveryId }) => !tests.has(deliveryId));
    await updateParked(
      system.deliveryTable,
      items.map(({ deliveryId }) => deliveryId),
      nowForAll(),
    );
    await slowDown([...new Set(items.map(({ webhookId }) => webhookId))]);
    count('webhook_deliveries_handed_back', {}, items.length);
    return all.map(({ deliveryId }) => !tests.has(deliveryId));
  },
});

/** Webhooks that were slowed a moment ago. */
const slowed = new LRUCache<string, true>({ max: 10_000, ttl: 1_000 });

/** Halves how much these webhooks may have in Redis, since more came than they take. With time it grows again. */
async function slowDown(webhookIds: string[]): Promise<void> {
  const time = now();
  const found = await system.listAdmissions(webhookIds.filter((id) => !slowed.has(id)));
  for (const { webhookId } of found) slowed.set(webhookId, true);
  const ends = found
    .filter((webhook) => windowOf(webhook, time) > 0)
    .map((webhook) => ({ ...webhook, until: restForHalf(webhook, time) }));
  // Most have the same two ends. Their jobs take up room meanwhile, so they share a statement.
  const keyOf = ({ pausedUntil, until }: (typeof ends)[number]) => `${Number(pausedUntil)} ${Number(until)}`;
  for (const alike of Map.groupBy(ends, keyOf).values())
    await updateWebhooksSlowed(
      alike.map(({ webhookId }) => webhookId),
      alike[0]!.pausedUntil,
      alike[0]!.until,
    );
}
