import type { z } from 'zod';
import { now } from '../../../common/clock.ts';
import { config } from '../../../config/config.ts';
import { findDueSince } from '../../../db/email/admission.system.ts';
import type { EmailKind } from '../../../db/email/emails.ts';
import { timeOfId } from '../../../formats/ids.ts';
import type { sendEmail } from '../../../jobs/send-email.ts';
import { emailLanes } from '../../../schemas/lanes.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { turns } from '../../../work/turns.ts';
import * as admission from '../admission/admission.ts';
import { attempt } from './attempt.ts';
import { relayCircuitBreaker } from './relay-circuit-breaker.ts';
import { isPast } from './times.ts';

type EmailTurn = z.infer<typeof sendEmail.payload>;

/** The delay of a job that had no free slot and went back to Redis. */
const againMs = 500;

const takeTurn = turns({
  lanes: emailLanes,
  slots: () => config.EMAIL_CONCURRENCY,
  // One-time codes may come at any time. A few of them must not slow down transactional email much, which includes a
  // workspace's codes above its rate.
  keptBesideOthers: { authentication: 1, transactional: 0.5, marketing: 0.1 },
  window: () => config.EMAIL_JOBS_PER_WORKSPACE,
  refill: admission.refill,
});

/** Runs an email's turn: makes an attempt as soon as its workspace has a slot and the relay can be used. */
export async function deliver(
  lane: EmailKind,
  { emailId, workspaceId, kind = lane }: EmailTurn,
  isStalled = false,
): Promise<WorkOutcome> {
  const turn = { lane, rowLane: kind, ownerId: workspaceId, id: emailId };
  const attemptNow = () => attempt(emailId, lane, isStalled);
  return (await takeTurn(turn, () => whenPossible(kind, emailId, attemptNow))) ?? inMs(againMs);
}

async function whenPossible(
  kind: EmailKind,
  emailId: string,
  attemptNow: () => Promise<WorkOutcome>,
): Promise<WorkOutcome> {
  if (relayCircuitBreaker.isPaused() && (await isOverdue(kind, emailId))) return attemptNow();
  const pass = await relayCircuitBreaker.pass();
  if ('waitMs' in pass) return inMs(pass.waitMs);
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

function inMs(ms: number): WorkOutcome {
  return { retryAt: new Date(now().getTime() + ms) };
}
