import { setTimeout as sleep } from 'node:timers/promises';
import { batcher } from '../../../common/batcher.ts';
import { now } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { outsideTransaction, transaction } from '../../../db/client.ts';
import type { EmailRecord } from '../../../db/email/emails.ts';
import { listTrackedForUpdate, updateOpens } from '../../../db/email/opens.system.ts';
import { insertEvents } from '../../../db/events/events.system.ts';
import * as events from '../../events/events.ts';
import { eventOf, remark } from '../record.ts';
import { readLink } from './links.ts';

/** `isLast`: this is the last try, so the load is counted even where it is too early for the event. */
type Load = { emailId: string; isLast: boolean };

// A mailbox may load the image before the relay's answer to the message is stored.
const tooEarlyMs = 500;
const triesWhileTooEarly = 10;

/**
 * Counts a load of an email's tracking image; the first load makes an email.opened event. Tokens that are not ours and
 * emails that are gone change nothing. Never rejects: a mail client that loads an image cannot act on our faults.
 */
export async function countLoad(token: string): Promise<void> {
  const emailId = readLink('open', token);
  if (!emailId) return;
  try {
    for (let tries = 1; ; tries += 1) {
      const isCounted = await outsideTransaction(() =>
        loads({ emailId, isLast: tries === triesWhileTooEarly }),
      );
      if (isCounted) return;
      await sleep(tooEarlyMs, undefined, { ref: false });
    }
  } catch (error) {
    count('email_opens_lost');
    logger.warn({ err: error, emailId }, 'a load of a tracking image could not be counted');
  }
}

const loads = batcher<Load, boolean>({
  maxItems: 200,
  maxInFlight: 2,
  run: async (items) => {
    const wanted = Map.groupBy(items, ({ emailId }) => emailId);
    const { early, opened } = await transaction(() => countAll(wanted));
    if (opened > 0) events.wakeRelay();
    count('email_opens', {}, items.length);
    return items.map(({ emailId }) => !early.has(emailId));
  },
});

async function countAll(wanted: Map<string, Load[]>): Promise<{ early: Set<string>; opened: number }> {
  const at = now();
  const early = new Set<string>();
  const changed: EmailRecord[] = [];
  const firsts: EmailRecord[] = [];
  for (const email of await listTrackedForUpdate([...wanted.keys()])) {
    const seen = wanted.get(email.id)!;
    const isEarly = email.status === 'queued';
    if (isEarly && !seen.some(({ isLast }) => isLast)) {
      early.add(email.id);
      continue;
    }
    const isFirst = email.openedAt === null && !isEarly;
    const counted = {
      ...(isFirst ? { ...remark(email, { at }), openedAt: at } : email),
      openCount: email.openCount + seen.length,
      updatedAt: at > email.updatedAt ? at : email.updatedAt,
    };
    changed.push(counted);
    if (isFirst) firsts.push(counted);
  }
  if (changed.length > 0) await updateOpens(changed);
  await insertEvents(
    firsts.map((email) => ({ workspaceId: email.workspaceId, event: eventOf(email, 'email.opened') })),
  );
  return { early, opened: firsts.length };
}
