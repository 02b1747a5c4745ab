import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { now } from '../../../common/clock.ts';
import { config } from '../../../config/config.ts';
import { findDueSince } from '../../../db/email/admission.system.ts';
import type { EmailKind } from '../../../db/email/emails.ts';
import { timeOfId } from '../../../formats/ids.ts';
import type { sendEmail } from '../../../jobs/send-email.ts';
import { permit } from '../../../transports/smtp.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { againIn, againMs } from '../../../work/turns.ts';
import * as admission from '../admission/admission.ts';
import { attempt } from './attempt.ts';
import { relayCircuitBreaker } from './relay-circuit-breaker.ts';
import { isPast } from './times.ts';

type EmailTurn = z.infer<typeof sendEmail.payload>;

/** An email that found no connection comes back after `againMs`, then after twice as long, up to this time. */
const longestAgainMs = 4_000;
/** How often each email found no connection, one time after the other. */
const putOffs = new LRUCache<string, number>({ max: 10_000 });

// One-time codes may come at any time. A few of them must not slow down transactional email much, which includes a
// workspace's codes above its rate.
const takeTurn = admission.turns(() => config.EMAIL_CONCURRENCY, { transactional: 0.5, marketing: 0.1 });

/**
 * Runs an email's turn: makes an attempt as soon as its workspace has a slot and the relay can be used. An email whose
 * hand-over may hang has its connection before its turn and its claim.
 */
export async function deliver(
  lane: EmailKind,
  { emailId, workspaceId, kind = lane }: EmailTurn,
  isStalled = false,
): Promise<WorkOutcome> {
  const turn = { lane, rowLane: kind, ownerId: workspaceId, id: emailId };
  const pauseMs = await relayCircuitBreaker.ownPauseMs(workspaceId);
  if (pauseMs > 0 && !(await isOverdue(kind, emailId))) return againIn(pauseMs);
  const own = await permit({ lane, owner: workspaceId });
  if (!own) return againIn(nextAgainMs(emailId));
  putOffs.delete(emailId);
  const attemptNow = () => attempt(emailId, { lane, isStalled, permit: own });
  try {
    return (await takeTurn(turn, () => whenPossible({ ...turn, kind }, attemptNow))) ?? againIn(againMs);
  } finally {
    own.leave();
  }
}

function nextAgainMs(emailId: string): number {
  const before = putOffs.get(emailId) ?? 0;
  putOffs.set(emailId, before + 1);
  return Math.min(longestAgainMs, againMs * 2 ** before) * (1 + Math.random() / 4);
}

async function whenPossible(
  { id, kind, ownerId }: { id: string; kind: EmailKind; ownerId: string | undefined },
  attemptNow: () => Promise<WorkOutcome>,
): Promise<WorkOutcome> {
  if (relayCircuitBreaker.isPaused(ownerId) && (await isOverdue(kind, id))) return attemptNow();
  const pass = await relayCircuitBreaker.pass(ownerId);
  if ('waitMs' in pass) return againIn(pass.waitMs);
  try {
    return await attemptNow();
  } finally {
    pass.leave();
  }
}

/**
 * Returns whether an email's time is up. If so, it is tried even while the relay is paused: no email waits for ever.
 */
async function isOverdue(kind: EmailKind, emailId: string): Promise<boolean> {
  // For most emails, the time in the id already shows that they are not overdue, without a query.
  if (!isPast(timeOfId(emailId), kind, now())) return false;
  const since = await findDueSince(emailId);
  return since !== null && isPast(since, kind, now());
}
