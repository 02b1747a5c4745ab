import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';

/** So many workers may end without a word about what they had in hand: then it is what kills them, and is given up. */
export const maxLostClaims = 10;

/** Tells the operator of one that was given up. */
export function logGivenUp(
  work: 'email' | 'sms' | 'batch_row' | 'webhook_delivery',
  ids: Record<string, string>,
): void {
  count('crash_loops', { work });
  logger.error({ work, ...ids }, 'given up, because every worker that had it in hand ended without a word');
}
