import { now } from '../../../common/clock.ts';
import { isolated } from '../../../common/isolated.ts';
import { portionsOf } from '../../../common/portions.ts';
import * as db from '../../../db/webhooks/health.system.ts';
import type { WebhookRecord } from '../../../db/webhooks/webhooks.ts';
import * as systemMail from '../../operations/system-mail.ts';
import { holdsBack, noteHosts, purgeHosts } from './network.ts';
import { dueOf, type End } from './outage.ts';
import { type Occasion, review } from './review.ts';

export { isSuspect as isNetworkSuspect } from './network.ts';

/** The end of an attempt, for the health of its webhook. A 429 is neither success nor failure, and is not noted. */
export type AttemptEnd = {
  webhookId: string;
  workspaceId: string;
  host: string;
  isSuccess: boolean;
  endedAt: Date;
};

const pageSize = 500;
/** Webhooks looked at in one transaction. */
const batchSize = 50;

/**
 * Notes attempts that have ended, many at once, after their outcomes are on disk. Nearly all are successes of healthy
 * webhooks, and each of them costs only its share of one read.
 */
export async function note(attemptEnds: AttemptEnd[]): Promise<void> {
  if (attemptEnds.length === 0) return;
  await noteHosts(attemptEnds);
  const ends = Map.groupBy(attemptEnds, ({ webhookId }) => webhookId);
  const hasFailure = (list: End[]) => list.some(({ isSuccess }) => !isSuccess);
  const failed = [...ends].filter(([, list]) => hasFailure(list)).map(([id]) => id);
  const succeeded = [...ends].filter(([, list]) => !hasFailure(list)).map(([id]) => id);
  await reviewAll([...failed, ...(await db.listFailing(succeeded))], { ends });
}

/**
 * Checks the failing webhooks against the clock: a lone delivery may have hours between two attempts, and the
 * webhook's window may end in between. Returns how many webhooks had something due.
 */
export async function watch(): Promise<number> {
  const steps = isolated('a step of the check of failing webhooks failed');
  await steps.run({ step: 'mail' }, systemMail.prepare);
  await steps.run({ step: 'hosts' }, purgeHosts);
  const time = now();
  let total = 0;
  let page: WebhookRecord[] = [];
  let isMore = (await steps.run({ step: 'network' }, holdsBack)) === false;
  while (isMore) {
    page = await db.listOutages(page.at(-1) ?? null, pageSize);
    const due = page.filter((webhook) => dueOf(webhook, time).length > 0).map(({ id }) => id);
    await steps.run({ step: 'review', first: due[0] }, () => reviewAll(due, { time }));
    total += due.length;
    isMore = page.length === pageSize;
  }
  steps.end();
  return total;
}

async function reviewAll(webhookIds: string[], occasion: Occasion): Promise<void> {
  for (const some of portionsOf(webhookIds, batchSize)) await review(some, occasion);
}
