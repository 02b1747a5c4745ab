import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import type { EmailKind } from '../../db/emails.ts';
import { findDueSince } from '../../db/system/email-admission.ts';
import { timeOfId } from '../../formats/ids.ts';
import { logger } from '../../logger.ts';
import * as admission from '../email-admission.ts';
import type { Outcome } from '../outcome.ts';
import { attempt } from './attempt.ts';
import { createGate, type Gate } from './gate.ts';
import { relayPause } from './relay-pause.ts';
import { isPast } from './times.ts';

export type Turn = {
  emailId: string;
  workspaceId?: string | undefined;
  /** Left out: the lane's. */
  kind?: EmailKind | undefined;
};

const gates = new Map<EmailKind, Gate>();
/** Sent back to Redis, an email is looked at again after so long. */
const againMs = 500;

const firstToLast: EmailKind[] = ['authentication', 'transactional', 'marketing'];
/** When each lane had something to do last. */
const activeAt = new Map<EmailKind, number>();
const activeForMs = 2_000;
/**
 * The part of its slots that a lane keeps beside one that comes first. There are codes at any time, and transactional
 * email, which is all that a workspace has beyond its share of them, must not come to a crawl for the sake of a few.
 */
const keptBesideOthers: Record<EmailKind, number> = { authentication: 1, transactional: 0.5, marketing: 0.1 };

function gateOf(lane: EmailKind): Gate {
  let gate = gates.get(lane);
  if (!gate) {
    gate = createGate(() => ({ slots: slotsOf(lane), longestWaitMs: 1_000 }));
    gates.set(lane, gate);
  }
  return gate;
}

/** All lanes of a process share one processor: what a later one has in hand, an earlier one has to wait for. */
function slotsOf(lane: EmailKind): number {
  const since = performance.now() - activeForMs;
  const isBehind = firstToLast
    .slice(0, firstToLast.indexOf(lane))
    .some((earlier) => (activeAt.get(earlier) ?? Number.NEGATIVE_INFINITY) >= since);
  return isBehind
    ? Math.max(2, Math.floor(config.EMAIL_CONCURRENCY * keptBesideOthers[lane]))
    : config.EMAIL_CONCURRENCY;
}

/** An email's turn: an attempt as soon as its workspace has a slot and the relay can be used. */
export async function deliver(
  lane: EmailKind,
  { emailId, workspaceId, kind = lane }: Turn,
): Promise<Outcome> {
  // Jobs of the version before do not name their workspace.
  const holder = workspaceId ?? emailId;
  const gate = gateOf(lane);
  activeAt.set(lane, performance.now());
  if (!(await gate.enter(holder))) return inMs(againMs);
  try {
    return await attemptWhenPossible(lane, kind, emailId);
  } finally {
    gate.leave(holder);
    if (workspaceId) await bringOn(kind, workspaceId);
  }
}

async function attemptWhenPossible(lane: EmailKind, kind: EmailKind, emailId: string): Promise<Outcome> {
  if (relayPause.isPaused() && (await isOverdue(kind, emailId))) return attempt(emailId, lane);
  const pass = await relayPause.pass();
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

function inMs(ms: number): Outcome {
  return { retryAt: new Date(now().getTime() + ms) };
}

/** How many emails of a workspace have ended since this process looked whether more wait for room. */
const ended = new Map<string, number>();
const looking = new Set<string>();
const partOfWindow = 20;

async function bringOn(kind: EmailKind, workspaceId: string): Promise<void> {
  const key = `${workspaceId} ${kind}`;
  const since = (ended.get(key) ?? 0) + 1;
  ended.set(key, since);
  if (since < config.EMAIL_JOBS_PER_WORKSPACE / partOfWindow || looking.has(key)) return;
  ended.delete(key);
  looking.add(key);
  try {
    await admission.refill(kind, [workspaceId], 'worker');
  } catch (error) {
    // The email itself is over.
    logger.debug({ err: error, workspaceId }, 'the next emails are left to the sweep');
  } finally {
    looking.delete(key);
  }
}
