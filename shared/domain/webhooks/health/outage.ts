import { config } from '../../../config/config.ts';
import type { WebhookRecord } from '../../../db/webhooks/webhooks.ts';

/** The rules of an outage: when it begins and ends, when to warn, and when to switch the webhook off. */

/** How one attempt ended. */
export type End = { isSuccess: boolean; endedAt: Date };

export type Due = 'warning' | 'switch_off';

export const defaultAtRiskAlertPercent = 10;
const minuteMs = 60_000;

/** The fields of a webhook that outages depend on. */
export type Health = Pick<
  WebhookRecord,
  | 'active'
  | 'autoDisabled'
  | 'autoDisableExempt'
  | 'autoDisableAfterMinutes'
  | 'atRiskAlertPercent'
  | 'atRiskWarnedAt'
  | 'failingSince'
  | 'lastFailedAt'
  | 'consecutiveFailures'
  | 'recoveredAt'
>;

/**
 * Returns the webhook after these attempts, applied in the order of their times, whatever order they come in. Returns
 * the same object when nothing changes.
 */
export function after<Webhook extends Health>(webhook: Webhook, ends: readonly End[]): Webhook {
  return ends
    .toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime())
    .reduce(
      (health, { isSuccess, endedAt }) => (isSuccess ? accepted(health, endedAt) : refused(health, endedAt)),
      webhook,
    );
}

function refused<Webhook extends Health>(health: Webhook, at: Date): Webhook {
  // This failure happened before the outage ended, and was only noted late.
  if (health.recoveredAt && at < health.recoveredAt) return health;
  return {
    ...health,
    failingSince: health.failingSince && health.failingSince < at ? health.failingSince : at,
    lastFailedAt: later(health.lastFailedAt, at),
    consecutiveFailures: health.consecutiveFailures + 1,
  };
}

function accepted<Webhook extends Health>(health: Webhook, at: Date): Webhook {
  const { failingSince, lastFailedAt } = health;
  if (!failingSince || at < failingSince) return health;
  // This success is noted late: failures after it are another outage, of which only the latest failure is known.
  const isFailingAgain = lastFailedAt !== null && lastFailedAt > at;
  return {
    ...health,
    failingSince: isFailingAgain ? lastFailedAt : null,
    consecutiveFailures: isFailingAgain ? 1 : 0,
    atRiskWarnedAt: null,
    recoveredAt: later(health.recoveredAt, at),
  };
}

function later(a: Date | null, b: Date): Date {
  return a && a > b ? a : b;
}

/** Returns the end of the window: from then on a webhook that still fails is switched off. */
export function switchOffAt(webhook: Health, failingSince: Date): Date {
  return new Date(failingSince.getTime() + windowMinutes(webhook) * minuteMs);
}

export function windowMinutes(webhook: Pick<Health, 'autoDisableAfterMinutes'>): number {
  return webhook.autoDisableAfterMinutes ?? config.WEBHOOK_AUTO_DISABLE_MINUTES;
}

/** Returns when to warn. 1 percent means at the first failure, not after a hundredth of the window; 0 means never. */
function warnAt(webhook: Health, failingSince: Date): Date | null {
  const percent = webhook.atRiskAlertPercent ?? defaultAtRiskAlertPercent;
  if (percent === 0) return null;
  const share = percent === 1 ? 0 : percent / 100;
  return new Date(failingSince.getTime() + Math.round(share * windowMinutes(webhook) * minuteMs));
}

/**
 * Returns the steps that are due for a webhook that still fails at this time. If both are overdue, the warning still
 * goes before the switch-off (API decisions §6). No step is due while the customer keeps the webhook paused: nothing
 * is tried then, so nothing fails.
 */
export function dueOf(webhook: Health, at: Date): Due[] {
  const { failingSince } = webhook;
  if (!failingSince || !webhook.active || webhook.autoDisabled || webhook.autoDisableExempt) return [];
  const from = webhook.atRiskWarnedAt ? null : warnAt(webhook, failingSince);
  return [
    ...(from && at >= from ? ['warning' as const] : []),
    ...(at >= switchOffAt(webhook, failingSince) ? ['switch_off' as const] : []),
  ];
}
