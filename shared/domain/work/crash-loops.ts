import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';

const maxLostClaims = 10;

/** Whether a row is given up because so many workers died while they held it. */
export const isCrashLoop = (lostClaims: number): boolean => lostClaims >= maxLostClaims;

/** Tells the operator of a row that was given up. */
export function logGivenUp(
  work: 'email' | 'sms' | 'batch_row' | 'webhook_delivery',
  ids: Record<string, string>,
): void {
  count('crash_loops', { work });
  logger.error({ work, ...ids }, 'given up, because every worker that had it in hand ended without a word');
}
