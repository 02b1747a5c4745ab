import { now } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { afterCommit, transaction } from '../../../db/client.ts';
import * as db from '../../../db/webhooks/health.system.ts';
import type { WebhookRecord } from '../../../db/webhooks/webhooks.ts';
import { listWorkspacesOf } from '../../../db/workspace/workspaces.system.ts';
import * as systemMail from '../../operations/system-mail.ts';
import { settle } from '../deliveries/settle.ts';
import * as mails from './mails.ts';
import * as network from './network.ts';
import { after, type Due, dueOf, type End } from './outage.ts';

/** The occasion of a review: attempts that have ended, or the time. */
export type Occasion = { ends: Map<string, End[]> } | { time: Date };

type HealthFinding = { before: WebhookRecord; webhook: WebhookRecord; due: Due[] };

/**
 * Checks these webhooks and does what is due, in one transaction: the outage fields, the warning, the switch-off and
 * the mails commit together. The webhooks are locked meanwhile, so that only one process takes each step.
 */
export async function review(webhookIds: string[], occasion: Occasion): Promise<void> {
  await transaction(async () => {
    // A webhook that the service switched off keeps its state from that moment, for its customer to see.
    const webhooks = (await db.listHealthForUpdate(webhookIds)).filter(({ autoDisabled }) => !autoDisabled);
    const found = await withProof(webhooks, occasion);
    await db.updateHealth(
      found.filter(({ before, webhook }) => webhook !== before).map(({ webhook }) => webhook),
    );
    const due = found.filter((finding) => finding.due.length > 0);
    if (due.length === 0 || (await network.holdsBack())) return;
    await act('time' in occasion ? await leaveToAttempts(due, occasion.time) : due);
  });
}

/**
 * Returns the consequences of the occasion. A process may have died before it noted a success, or notes a failure long
 * after it happened. So before an outage begins or has consequences, the deliveries are searched for a success.
 */
async function withProof(webhooks: WebhookRecord[], occasion: Occasion): Promise<HealthFinding[]> {
  const found = webhooks.map((webhook) => findingOf(webhook, occasion, []));
  const doubtful = found.filter(
    ({ before, webhook, due }) => due.length > 0 || (webhook.failingSince && !before.failingSince),
  );
  if (doubtful.length === 0) return found;
  const accepted = await db.listLastAccepted(doubtful.map(({ before }) => before.id));
  return found.map((finding) => {
    const endedAt = accepted.get(finding.before.id);
    return endedAt ? findingOf(finding.before, occasion, [{ isSuccess: true, endedAt }]) : finding;
  });
}

function findingOf(before: WebhookRecord, occasion: Occasion, proof: End[]): HealthFinding {
  const ends = 'ends' in occasion ? (occasion.ends.get(before.id) ?? []) : [];
  const webhook = after(before, [...ends, ...proof]);
  const failures = ends.filter(({ isSuccess }) => !isSuccess).map(({ endedAt }) => endedAt.getTime());
  if ('time' in occasion) return { before, webhook, due: dueOf(webhook, occasion.time) };
  // Only a failure has consequences: a success must not switch a webhook off.
  const due = failures.length > 0 ? dueOf(webhook, new Date(Math.max(...failures))) : [];
  return { before, webhook, due };
}

/** Drops the switch-off by the clock where an attempt that is due, claimed or delayed by a 429 may still succeed. */
async function leaveToAttempts(due: HealthFinding[], time: Date): Promise<HealthFinding[]> {
  const ending = due.filter((finding) => finding.due.includes('switch_off')).map(({ webhook }) => webhook.id);
  if (ending.length === 0) return due;
  const awaiting = await db.listAwaitingAttempt(ending, time);
  return due.map((finding) =>
    awaiting.has(finding.webhook.id)
      ? { ...finding, due: finding.due.filter((what) => what !== 'switch_off') }
      : finding,
  );
}

const acts = {
  warning: {
    update: db.updateWarned,
    mail: mails.warning,
    metric: 'webhook_warnings',
    line: 'the customer was warned about a failing webhook',
  },
  switch_off: {
    update: db.updateSwitchedOff,
    mail: mails.switchedOff,
    metric: 'webhook_switch_offs',
    line: 'a webhook was switched off after continuous failure',
  },
};

async function act(due: HealthFinding[]): Promise<void> {
  const workspaces = await listWorkspacesOf([...new Set(due.map(({ webhook }) => webhook.workspaceId))]);
  for (const { webhook, what } of due.flatMap(({ webhook, due: all }) =>
    all.map((what) => ({ webhook, what })),
  )) {
    const { id, workspaceId, failingSince } = webhook;
    if (!failingSince) continue;
    const { update, mail, metric, line } = acts[what];
    if (!(await update(id, now()))) continue;
    if (what === 'switch_off') await settle(workspaceId, id);
    const workspace = workspaces.find((each) => each.id === workspaceId);
    if (workspace) {
      const lastFailure = await db.findLastFailedAttempt(id);
      const waitingSince = await db.findOldestWaiting(id);
      await systemMail.send(
        workspace.alertEmail,
        mail({ webhook, workspace, failingSince, lastFailure, waitingSince }),
      );
    }
    afterCommit(() => {
      count(metric);
      logger.warn({ webhookId: id, workspaceId, failingSince }, line);
    });
  }
}
