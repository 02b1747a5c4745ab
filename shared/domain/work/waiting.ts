import { LRUCache } from 'lru-cache';
import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { type Problem, problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import { outsideTransaction } from '../../db/client.ts';
import * as system from '../../db/work/waiting-counts.system.ts';
import * as db from '../../db/work/waiting-counts.ts';
import { systemWorkspaceId } from '../workspace/workspaces.ts';

/**
 * The limit of a workspace's waiting work: messages that are accepted and not yet handed over, and the bytes of emails
 * among them and of the rows of batches that are not over. Counts are kept in the transactions that change these. To
 * accept a message, a process looks at what it has read of them a moment ago, and adds what it has admitted since. Near the limit, and for what is large, the transaction
 * that accepts locks them and looks again, so that the limit is met exactly there. Elsewhere it can be passed only by
 * what other processes admit within a second, which would have to be a tenth of the limit and more.
 */
export type Waiting = db.Waiting;

/** Up to so old, what was read is good enough where there is room. */
const staleMs = 1_000;
/** The room that must be left for a process to go by what it has read: a tenth of the limit, or as much as this. */
const leastRoom: Waiting = { messages: 10_000, bytes: 100_000_000 };
const largeBytes = 1_000_000;

type Known = {
  /** As it was read, and admitted by this process since. */
  waiting: Waiting;
  readAt: number;
  reading: Promise<void> | undefined;
};
const mostKnown = 10_000;
const known = new LRUCache<string, Known>({ max: mostKnown });
forgetAtEnd(() => known.clear());

function limits(): Waiting {
  return {
    messages: config.MAX_WAITING_ROWS || Number.POSITIVE_INFINITY,
    bytes: config.MAX_STORED_MB * 1_000_000 || Number.POSITIVE_INFINITY,
  };
}

/** The platform's own mail is nobody's to limit. */
function isLimited(workspaceId: string): boolean {
  return workspaceId !== systemWorkspaceId && (config.MAX_STORED_MB > 0 || config.MAX_WAITING_ROWS > 0);
}

/** Throws limit_exceeded where the workspace has no room for that. */
export async function check(workspaceId: string, added: Waiting): Promise<void> {
  const refused = await admit(workspaceId, added);
  if (refused) throw refused;
}

/** The same question for what nobody can be refused. */
export async function hasRoom(workspaceId: string, added: Waiting): Promise<boolean> {
  return (await admit(workspaceId, added)) === null;
}

async function admit(workspaceId: string, added: Waiting): Promise<Problem | null> {
  if (!isLimited(workspaceId)) return null;
  const found = await readRecent(workspaceId);
  if (!fits(found.waiting, added)) {
    // Some may have gone out or been cancelled since.
    await read(workspaceId, found);
    if (!fits(found.waiting, added)) return refusal(workspaceId, found.waiting, added);
  }
  found.waiting = sum(found.waiting, added);
  return null;
}

/** The same, as exactly as there is need: at the end of the transaction that accepts it. */
export async function checkAtCommit(workspaceId: string, added: Waiting): Promise<void> {
  if (!isLimited(workspaceId)) return;
  const recent = known.get(workspaceId)?.waiting;
  if (recent && added.bytes <= largeBytes && hasMuchRoom(recent)) return;
  const waiting = await db.findWaitingForUpdate(workspaceId);
  if (!fits(waiting, added)) throw refusal(workspaceId, waiting, added);
}

/** The waiting work of a workspace and its limits, for the operator. */
export async function find(workspaceId: string): Promise<{ waiting: Waiting; limits: Waiting }> {
  return { waiting: await db.findWaiting(workspaceId), limits: limits() };
}

async function readRecent(workspaceId: string): Promise<Known> {
  let found = known.get(workspaceId);
  if (!found) {
    found = { waiting: { messages: 0, bytes: 0 }, readAt: Number.NEGATIVE_INFINITY, reading: undefined };
    known.set(workspaceId, found);
  }
  if (performance.now() - found.readAt > staleMs) await read(workspaceId, found);
  return found;
}

/** Once for all who ask for it at the same time. */
async function read(workspaceId: string, found: Known): Promise<void> {
  found.reading ??= (async () => {
    try {
      const readAt = performance.now();
      found.waiting = await outsideTransaction(() => db.findWaiting(workspaceId));
      found.readAt = readAt;
    } finally {
      found.reading = undefined;
    }
  })();
  await found.reading;
}

const sum = (one: Waiting, other: Waiting): Waiting => ({
  messages: one.messages + other.messages,
  bytes: one.bytes + other.bytes,
});

function fits(waiting: Waiting, added: Waiting): boolean {
  const most = limits();
  const { messages, bytes } = sum(waiting, added);
  // A message without content is not held up by the limit of bytes.
  return messages <= most.messages && (added.bytes === 0 || bytes <= most.bytes);
}

function hasMuchRoom(waiting: Waiting): boolean {
  const most = limits();
  return (['messages', 'bytes'] as const).every((of) => {
    if (most[of] === Number.POSITIVE_INFINITY) return true;
    return most[of] - waiting[of] > Math.max(most[of] / 10, leastRoom[of]);
  });
}

function refusal(workspaceId: string, { messages, bytes }: Waiting, added: Waiting): Problem {
  const most = limits();
  const isOfRows = messages + added.messages > most.messages;
  count('waiting_refused', { limit: isOfRows ? 'messages' : 'bytes' });
  recountSoon(workspaceId);
  const inMb = (value: number) => Math.round(value / 100_000) / 10;
  return problem('limit_exceeded', {
    detail: isOfRows
      ? `${messages} messages of the workspace wait to be sent, of ${most.messages} that may`
      : `${inMb(bytes)} MB of the messages of the workspace wait to be sent, of ${inMb(most.bytes)} MB that may, and this one has ${inMb(added.bytes)} MB`,
  });
}

const recountEveryMs = 3_600_000;
/** Of a workspace that is refused something: it must not stay so because of a count that is wrong. */
const recountRefusedEveryMs = 60_000;
/** Recounting takes at most so small a part of the time. */
const restPerRecount = 100;
const mostRecounts = 1_000;
const longestRecountsMs = 20_000;

/** Workspaces that are recounted, or were a moment ago. */
const recounted = new LRUCache<string, true>({ max: mostKnown });
forgetAtEnd(() => recounted.clear());

function recountSoon(workspaceId: string): void {
  if (recounted.has(workspaceId)) return;
  recounted.set(workspaceId, true);
  const startedAt = performance.now();
  outsideTransaction(() => recount(workspaceId, new Date(now().getTime() - recountRefusedEveryMs)))
    .catch((error) => logger.debug({ err: error, workspaceId }, 'what waits could not be recounted'))
    .finally(() => {
      const tookMs = performance.now() - startedAt;
      recounted.set(workspaceId, true, { ttl: Math.max(recountRefusedEveryMs, restPerRecount * tookMs) });
    });
}

/**
 * Counts the messages themselves, of each workspace once an hour. The counts are right without it: it is for rows that
 * were changed by hand, or by a process of an older version beside those of this one. Returns how many it has counted.
 */
export async function recountDue(): Promise<number> {
  const before = new Date(now().getTime() - recountEveryMs);
  const until = performance.now() + longestRecountsMs;
  let done = 0;
  for (const workspaceId of await system.listWorkspacesToRecount(before, mostRecounts)) {
    if (performance.now() > until) break;
    if (await recount(workspaceId, before)) done += 1;
  }
  return done;
}

async function recount(workspaceId: string, unlessSince: Date): Promise<boolean> {
  const found = await system.findRecount(workspaceId, unlessSince);
  if (!found || !(await system.updateRecounted(workspaceId, found, now()))) return false;
  const { off } = found;
  if (off.messages !== 0 || off.bytes !== 0)
    logger.warn({ workspaceId, off }, 'what a workspace has waiting was counted wrong, and is put right');
  return true;
}

/** Workspaces that have little room left, or none. */
export function findFullCount(): Promise<number> {
  const most = limits();
  const share = (value: number) => Math.min(0.95 * value, Number.MAX_SAFE_INTEGER);
  return system.findFullWorkspaceCount({ messages: share(most.messages), bytes: share(most.bytes) });
}
