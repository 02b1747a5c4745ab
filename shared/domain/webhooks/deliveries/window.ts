import { config } from '../../../config/config.ts';
import type { Pacing } from '../../../db/webhooks/deliveries/deliveries.system.ts';

const slowStart = 10;
const doublesEveryMs = 5_000;
/** An outage, and not a delivery that failed among others that did not. */
const outageFailures = 10;

/**
 * How many deliveries of a webhook may have a job in Redis. None while nothing may be sent to it, a few to find out
 * whether it is back, and after a rest more and more, so that a backlog does not come down on it all at once.
 */
export function windowOf(webhook: Pacing, at: Date): number {
  const full = config.WEBHOOK_JOBS_PER_WEBHOOK;
  if (!mayBeSent(webhook, at)) return 0;
  if (isInOutage(webhook)) return Math.min(slowStart, full);
  const restedMs = at.getTime() - restEnd(webhook);
  if (restedMs >= fullAfterMs()) return full;
  return Math.min(full, slowStart * 2 ** Math.floor(Math.max(0, restedMs) / doublesEveryMs));
}

export function mayBeSent({ active, autoDisabled, pausedUntil }: Pacing, at: Date): boolean {
  return active && !autoDisabled && !(pausedUntil && pausedUntil > at);
}

export function isInOutage({ failingSince, consecutiveFailures }: Pacing): boolean {
  return failingSince !== null && consecutiveFailures >= outageFailures;
}

/** Its first attempts may go beside those of others; what is failing, slow or only just back goes with the retries. */
export function isHealthy(webhook: Pacing, at: Date): boolean {
  return webhook.failingSince === null && windowOf(webhook, at) === config.WEBHOOK_JOBS_PER_WEBHOOK;
}

/**
 * Until when it was let be: by its endpoint's wish, by its customer's, or because too much came for it at once. That an
 * outage ended is noted as a rest too: `recoveredAt` follows every single failure, so it counts only where somebody has
 * put the webhook right by hand.
 */
function restEnd({ pausedUntil, recoveredAt, lastFailedAt }: Pacing): number {
  const recovered = lastFailedAt === null ? recoveredAt : null;
  return Math.max(
    pausedUntil?.getTime() ?? Number.NEGATIVE_INFINITY,
    recovered?.getTime() ?? Number.NEGATIVE_INFINITY,
  );
}

function fullAfterMs(): number {
  return doublesEveryMs * Math.ceil(Math.log2(Math.max(1, config.WEBHOOK_JOBS_PER_WEBHOOK / slowStart)));
}

/** The end of a rest after which the window is half of what it is now: more came than the endpoint could take. */
export function restForHalf(webhook: Pacing, at: Date): Date {
  const half = Math.max(slowStart, windowOf(webhook, at) / 2);
  const steps = Math.floor(Math.log2(half / slowStart));
  return new Date(at.getTime() - steps * doublesEveryMs);
}
