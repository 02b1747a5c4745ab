import { config } from '../../../config/config.ts';
import type { FailedAttempt } from '../../../db/webhooks/health.system.ts';
import type { WebhookRecord } from '../../../db/webhooks/webhooks.ts';
import type { WorkspaceRecord } from '../../../db/workspace/workspaces.ts';
import type { SystemMail } from '../../operations/system-mail.ts';
import { switchOffAt, windowMinutes } from './outage.ts';

/** The mails to a workspace about a webhook that fails or was switched off. */

/** The facts in the mails about one webhook's outage. */
type Outage = {
  webhook: WebhookRecord;
  workspace: WorkspaceRecord;
  failingSince: Date;
  lastFailure: FailedAttempt | null;
  /** When the oldest delivery that still waits was made. */
  waitingSince: Date | null;
};

export function warning(outage: Outage): SystemMail {
  const { webhook, failingSince } = outage;
  const end = switchOffAt(webhook, failingSince);
  return {
    subject: `Webhook to ${hostOf(webhook.url)} is failing`,
    text: [
      'Deliveries to one of your webhooks are failing.',
      factsOf(outage),
      `What happens next: deliveries are tried again on their schedule. If none is accepted by ${time(end)}, the webhook is switched off. What waits then, and what happens after, is recorded as skipped and not sent.`,
      `What to do: let the endpoint answer with a 2xx status within ${config.WEBHOOK_TIMEOUT_SECONDS} seconds. The first delivery that is accepted ends this, and nothing more is needed.`,
      'This is the only warning of this outage.',
    ].join('\n\n'),
  };
}

export function switchedOff(outage: Outage): SystemMail {
  const { webhook } = outage;
  const address = `${config.PUBLIC_URL}/v2/webhooks/${webhook.id}`;
  return {
    subject: `Webhook to ${hostOf(webhook.url)} has been switched off`,
    text: [
      `One of your webhooks has been switched off, because no delivery to it was accepted for ${duration(windowMinutes(webhook))}.`,
      factsOf(outage),
      `What this means: nothing is sent to it any more. Deliveries that were waiting, and new events, are recorded as skipped. They are kept for ${config.EVENT_RETENTION_DAYS} days, so you can still have them sent.`,
      [
        'How to restore it:',
        `1. Let the endpoint answer with a 2xx status within ${config.WEBHOOK_TIMEOUT_SECONDS} seconds. A test, also while the webhook is switched off:`,
        `   POST ${address}/test`,
        '2. Switch the webhook on:',
        `   PATCH ${address} {"active": true}`,
        '3. Have sent what it missed:',
        `   POST ${address}/recover {"since": "${missedSince(outage).toISOString()}"}`,
      ].join('\n'),
    ].join('\n\n'),
  };
}

/** The first failed delivery was made a little before it failed. */
const leadMs = 10 * 60_000;

/** Deliveries made since then and not accepted are all that the outage has cost. */
function missedSince({ failingSince, waitingSince }: Outage): Date {
  const from = failingSince.getTime() - leadMs;
  return new Date(Math.min(from, waitingSince?.getTime() ?? from));
}

function factsOf({ webhook, workspace, failingSince, lastFailure }: Outage): string {
  const facts: [string, string][] = [
    ['Webhook', webhook.id],
    ['URL', oneLine(webhook.url)],
    ...(webhook.description ? [['Description', oneLine(webhook.description)] as [string, string]] : []),
    ['Workspace', `${oneLine(workspace.name)} (${workspace.id})`],
    ['Failing since', time(failingSince)],
    ['Failed attempts', `${webhook.consecutiveFailures} in a row`],
    ...(lastFailure ? [['Last failure', failure(lastFailure)] as [string, string]] : []),
  ];
  return facts.map(([name, value]) => `${`${name}:`.padEnd(17)}${value}`).join('\n');
}

const causes: Record<string, string> = {
  timeout: 'no answer in time',
  dns: 'the name of the host could not be resolved',
  connection: 'the connection failed',
  tls: 'the TLS handshake failed',
  blocked_address: 'webhooks may not reach the address',
};

function failure({ attemptedAt, responseStatus, error }: FailedAttempt): string {
  const cause = responseStatus === null ? (causes[error] ?? error) : `HTTP status ${responseStatus}`;
  return `${cause}, at ${time(attemptedAt)}`;
}

function hostOf(text: string): string {
  return URL.parse(text)?.host ?? 'an unknown host';
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function time(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function duration(minutes: number): string {
  for (const [unit, size] of [
    ['day', 1440],
    ['hour', 60],
  ] as const)
    if (minutes % size === 0) return amount(minutes / size, unit);
  return amount(minutes, 'minute');
}

function amount(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
