import { LRUCache } from 'lru-cache';
import { batcher } from '../../../common/batcher.ts';
import { nowForAll } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { outsideTransaction } from '../../../db/client.ts';
import { listStates, type WebhookState } from '../../../db/webhooks/deliveries/deliveries.system.ts';
import { mayBeSent } from './window.ts';

/**
 * The state of a webhook after its delivery was claimed. A claim reads the webhook too, but a delivery may wait for
 * seconds before its request begins.
 */

/** `begunAt`: when the attempt began whose answer asked for the pause; `url`: the URL that it posted to. */
export type Pause = { until: Date; busyCount: number; begunAt: Date; url: string };
/** A pause applies to claims that began before `readFrom`: they may have read the webhook without the pause. */
type NotedPause = { pause: Pause; readFrom: number };

/** Pauses that answers to this process have begun. */
const notes = new LRUCache<string, NotedPause>({ max: 10_000 });

/**
 * Notes a pause that is not stored yet. It does not replace the pause of an attempt that began later, because a
 * customer may have ended the older pause.
 */
export function notePause(webhookId: string, pause: Pause): void {
  const noted = notes.get(webhookId);
  if (noted && noted.readFrom === Number.POSITIVE_INFINITY && noted.pause.begunAt > pause.begunAt) return;
  notes.set(webhookId, { pause, readFrom: Number.POSITIVE_INFINITY });
  // A read that began before the answer may be older than the customer's end of a pause.
  reads.delete(webhookId);
}

/** Ends the note of a pause: from now on, claims read the pause itself, or that it was lifted. */
export function endNote(webhookId: string, pause: Pause): void {
  const noted = notes.get(webhookId);
  if (noted?.pause === pause) noted.readFrom = performance.now();
}

const momentMs = 5_000;

/**
 * Returns the end of a short wait. A customer who ends a pause makes its waiting deliveries due, but only after the
 * pause is stored. Until then, deliveries wait for short times.
 */
export function momentOf({ until }: Pause): Date {
  return new Date(Math.min(until.getTime(), nowForAll().getTime() + momentMs));
}

/**
 * Adds a noted pause to a webhook whose claim, begun at `claimedFrom`, may have missed it. A later end that was read
 * stays. If the customer has ended a pause since the attempt began, the noted pause has ended too, even if it is not
 * stored yet.
 */
export function withNotedPause<T extends WebhookState>(webhook: T, claimedFrom: number): T {
  const noted = notes.get(webhook.id);
  if (!noted || claimedFrom >= noted.readFrom || webhook.url !== noted.pause.url) return webhook;
  if (webhook.pauseEndedAt && webhook.pauseEndedAt > noted.pause.begunAt) return webhook;
  const until = momentOf(noted.pause);
  const isLonger = !webhook.pausedUntil || webhook.pausedUntil < until;
  return isLonger ? { ...webhook, pausedUntil: until } : webhook;
}

/** Returns the state of a webhook whose delivery was claimed some time ago; null when the webhook was deleted. */
export async function stateNow(webhook: WebhookState, claimedFrom: number): Promise<WebhookState | null> {
  if (!mayBeSent(webhook, nowForAll())) return webhook;
  const read = await readLately(webhook);
  // Read the row first: it tells whether the customer has ended the noted pause.
  return read && withNotedPause(read, claimedFrom);
}

/** Deliveries of one webhook that get their slots one soon after the other share what was read. */
const reads = new LRUCache<string, Promise<WebhookState | null>>({
  max: 10_000,
  ttl: 100,
  // With the usual resolution of 1 ms, each millisecond would cost a timer.
  ttlResolution: 10,
});

async function readLately(webhook: WebhookState): Promise<WebhookState | null> {
  const { id } = webhook;
  let read = reads.get(id);
  if (!read) {
    read = outsideTransaction(() => lookUps(id));
    reads.set(id, read);
  }
  try {
    return await read;
  } catch (error) {
    // The delivery goes out as its claim allows, because a look that fails says nothing about the webhook.
    logger.debug({ err: error, webhookId: id }, 'a webhook could not be read again');
    return webhook;
  }
}

const lookUps = batcher<string, WebhookState | null>({
  maxItems: 200,
  maxInFlight: 1,
  run: async (webhookIds) => {
    const found = new Map((await listStates(webhookIds)).map((state) => [state.id, state]));
    return webhookIds.map((webhookId) => found.get(webhookId) ?? null);
  },
});
