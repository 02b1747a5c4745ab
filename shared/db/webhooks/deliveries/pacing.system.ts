import type { Row } from '../../client.ts';
import type { WebhookRecord } from '../webhooks.ts';

/** The columns of a webhook that decide how much it may be sent now. */
export type Pacing = Pick<
  WebhookRecord,
  | 'active'
  | 'autoDisabled'
  | 'pausedUntil'
  | 'failingSince'
  | 'consecutiveFailures'
  | 'lastFailedAt'
  | 'recoveredAt'
>;

export function toPacing(row: Row): Pacing {
  return {
    active: row.active === 1,
    autoDisabled: row.auto_disabled === 1,
    pausedUntil: row.paused_until,
    failingSince: row.failing_since,
    consecutiveFailures: row.consecutive_failures,
    lastFailedAt: row.last_failed_at,
    recoveredAt: row.recovered_at,
  };
}
