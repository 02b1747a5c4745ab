import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';

/** About this many workers may die while they hold a row; then the row is taken for the cause, and is given up. */
export const maxLostClaims = 10;

/** Tells the operator of a row that was given up. */
export function logGivenUp(
  work: 'email' | 'sms' | 'batch_row' | 'webhook_delivery',
  ids: Record<string, string>,
): void {
  count('crash_loops', { work });
  logger.error({ work, ...ids }, 'given up, because every worker that had it in hand ended without a word');
}
