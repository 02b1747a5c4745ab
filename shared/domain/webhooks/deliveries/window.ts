import { config } from '../../../config/config.ts';
import type { Pacing } from '../../../db/webhooks/deliveries/deliveries.system.ts';

const slowStart = 10;
const doublesEveryMs = 5_000;
/** This many failures in a row are an outage, and not one delivery that fails while others succeed. */
const outageFailures = 10;

/**
 * Returns how many deliveries of a webhook may have a job in Redis: none while nothing may be sent, 10 in an
 * outage to see whether it is over. After a pause the number doubles every 5 s, so that a backlog does not come
 * all at once.
 */
export function windowOf(webhook: Pacing, at: Date): number {
  const full = config.WEBHOOK_JOBS_PER_WEBHOOK;
  if (!mayBeSent(webhook, at)) return 0;
  if (isInOutage(webhook)) return Math.min(slowStart, full);
  // The last pause: the endpoint or the customer asked for it, or too many deliveries came at once. The end of an
  // outage and a switch-on by the customer are stored as pauses too, so that a single failure does not end the slow
  // start.
  const restedMs = webhook.pausedUntil ? at.getTime() - webhook.pausedUntil.getTime() : Infinity;
  return Math.min(full, slowStart * 2 ** Math.floor(Math.max(0, restedMs) / doublesEveryMs));
}

export function mayBeSent({ active, autoDisabled, pausedUntil }: Pacing, at: Date): boolean {
  return active && !autoDisabled && !(pausedUntil && pausedUntil > at);
}

export function isInOutage({ failingSince, consecutiveFailures }: Pacing): boolean {
  return failingSince !== null && consecutiveFailures >= outageFailures;
}

/** Returns whether first attempts may use the first lane; failing, slow and just recovered webhooks use `retry`. */
export function isHealthy(webhook: Pacing, at: Date): boolean {
  return webhook.failingSince === null && windowOf(webhook, at) === config.WEBHOOK_JOBS_PER_WEBHOOK;
}

/** Returns the end of a pause that halves the present window, because more came than the endpoint could take. */
export function restForHalf(webhook: Pacing, at: Date): Date {
  const half = Math.max(slowStart, windowOf(webhook, at) / 2);
  const steps = Math.floor(Math.log2(half / slowStart));
  return new Date(at.getTime() - steps * doublesEveryMs);
}
