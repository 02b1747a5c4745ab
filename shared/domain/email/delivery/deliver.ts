import { now } from '../../../common/clock.ts';
import { config } from '../../../config/config.ts';
import { findDueSince } from '../../../db/email/admission.system.ts';
import type { EmailKind } from '../../../db/email/emails.ts';
import { timeOfId } from '../../../formats/ids.ts';
import { emailLanes } from '../../../schemas/lanes.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { turns } from '../../../work/turns.ts';
import * as admission from '../admission/admission.ts';
import { attempt } from './attempt.ts';
import { relayCircuitBreaker } from './relay-circuit-breaker.ts';
import { isPast } from './times.ts';

type EmailTurn = {
  emailId: string;
  workspaceId?: string | undefined;
  /** Left out: the lane's. */
  kind?: EmailKind | undefined;
};

/** Sent back to Redis, an email is looked at again after so long. */
const againMs = 500;

const takeTurn = turns({
  lanes: emailLanes,
  slots: () => config.EMAIL_CONCURRENCY,
  // There are codes at any time, and transactional email, which is all that a workspace has beyond its share of them, must
  // not come to a crawl for the sake of a few.
  keptBesideOthers: { authentication: 1, transactional: 0.5, marketing: 0.1 },
  window: () => config.EMAIL_JOBS_PER_WORKSPACE,
  refill: admission.refill,
});

/** An email's turn: an attempt as soon as its workspace has a slot and the relay can be used. */
export async function deliver(
  lane: EmailKind,
  { emailId, workspaceId, kind = lane }: EmailTurn,
): Promise<WorkOutcome> {
  const turn = { lane, rowLane: kind, ownerId: workspaceId, id: emailId };
  return (await takeTurn(turn, () => attemptWhenPossible(lane, kind, emailId))) ?? inMs(againMs);
}

async function attemptWhenPossible(lane: EmailKind, kind: EmailKind, emailId: string): Promise<WorkOutcome> {
  if (relayCircuitBreaker.isPaused() && (await isOverdue(kind, emailId))) return attempt(emailId, lane);
  const pass = await relayCircuitBreaker.pass();
  if ('waitMs' in pass) return inMs(pass.waitMs);
  try {
    return await attempt(emailId, lane);
  } finally {
    pass.leave();
  }
}

/** It fails as it would have, had it been tried all the time: nothing waits for ever. */
async function isOverdue(kind: EmailKind, emailId: string): Promise<boolean> {
  // The id tells of most that they are not, without the database.
  if (!isPast(timeOfId(emailId), kind, now())) return false;
  const since = await findDueSince(emailId);
  return since !== null && isPast(since, kind, now());
}

function inMs(ms: number): WorkOutcome {
  return { retryAt: new Date(now().getTime() + ms) };
}
