import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';

const maxLostClaims = 10;

/** Returns whether to fail a row because this many workers have died while they held it. */
export const isCrashLoop = (lostClaims: number): boolean => lostClaims >= maxLostClaims;

/** Reports such a row to the operator. */
export function logGivenUp(
  work: 'email' | 'sms' | 'batch_row' | 'webhook_delivery',
  ids: Record<string, string>,
): void {
  count('crash_loops', { work });
  logger.error({ work, ...ids }, 'work was given up, because every worker that processed it died');
}
