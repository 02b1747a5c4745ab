import { LRUCache } from 'lru-cache';
import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { type Problem, problem } from '../../common/errors.ts';
import { isolated } from '../../common/isolated.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { config } from '../../config/config.ts';
import { beforeCommit, outsideTransaction } from '../../db/client.ts';
import * as system from '../../db/work/waiting-counts.system.ts';
import * as db from '../../db/work/waiting-counts.ts';
import { systemWorkspaceId } from '../workspace/workspaces.ts';

/**
 * The limit of a workspace's waiting work: messages that are not yet handed over, and the bytes of emails among
 * them and of rows of unfinished batches. Transactions that change this work also change its counts. A process
 * decides by counts that it read a moment ago, plus all that it has admitted since. Near the limit, and for large
 * additions, the transaction locks the counts and checks again, so the limit is exact there. Elsewhere only other
 * processes can pass it, if they admit a tenth of the limit within a second.
 */
export type Waiting = db.Waiting;

/** Counts of up to this age are good enough while there is room. */
const staleMs = 1_000;
/**
 * A process relies on counts that it has read only while more room is left than a tenth of the limit, and than this.
 */
const leastRoom: Waiting = { messages: 10_000, bytes: 100_000_000 };
const largeBytes = 1_000_000;

type KnownWaiting = {
  /** The counts as read, plus all that this process has admitted since. */
  waiting: Waiting;
  readAt: number;
  reading: Promise<void> | undefined;
};
const mostKnown = 10_000;
const known = new LRUCache<string, KnownWaiting>({
  max: mostKnown,
  memoMethod: () => ({
    waiting: { messages: 0, bytes: 0 },
    readAt: Number.NEGATIVE_INFINITY,
    reading: undefined,
  }),
});
forgetAtEnd(() => known.clear());

function limits(): Waiting {
  return {
    messages: config.MAX_WAITING_ROWS || Number.POSITIVE_INFINITY,
    bytes: config.MAX_STORED_MB * 1_000_000 || Number.POSITIVE_INFINITY,
  };
}

/** Returns whether the workspace has a limit. The platform's own workspace has none. */
function isLimited(workspaceId: string): boolean {
  return workspaceId !== systemWorkspaceId && (config.MAX_STORED_MB > 0 || config.MAX_WAITING_ROWS > 0);
}

/** Throws limit_exceeded where the workspace has no room for `added`. */
export async function check(workspaceId: string, added: Waiting): Promise<void> {
  const refused = await admit(workspaceId, added);
  if (refused) throw refused;
}

/** Returns whether there is room for `added`, for work that no caller can be refused. */
export async function hasRoom(workspaceId: string, added: Waiting): Promise<boolean> {
  return (await admit(workspaceId, added)) === null;
}

async function admit(workspaceId: string, added: Waiting): Promise<Problem | null> {
  if (!isLimited(workspaceId)) return null;
  const found = await readRecent(workspaceId);
  if (!fits(found.waiting, added)) {
    // Some messages may have gone out or been cancelled since the counts were read.
    await read(workspaceId, found);
    if (!fits(found.waiting, added)) return refusal(workspaceId, found.waiting, added);
  }
  found.waiting = sum(found.waiting, added);
  return null;
}

/**
 * Checks again, at the end of the transaction that accepts the work. Locks the counts where the work is large or little
 * room is left.
 */
export async function checkAtCommit(workspaceId: string, added: Waiting): Promise<void> {
  if (!isLimited(workspaceId)) return;
  const recent = known.get(workspaceId)?.waiting;
  if (recent && added.bytes <= largeBytes && hasMuchRoom(recent)) return;
  await beforeCommit(async () => {
    const waiting = await db.findWaitingForUpdate(workspaceId);
    if (!fits(waiting, added)) throw refusal(workspaceId, waiting, added);
  });
}

/** Returns the waiting work of a workspace and its limits, for the operator. */
export async function find(workspaceId: string): Promise<{ waiting: Waiting; limits: Waiting }> {
  return { waiting: await db.findWaiting(workspaceId), limits: limits() };
}

async function readRecent(workspaceId: string): Promise<KnownWaiting> {
  const found = known.memo(workspaceId);
  if (performance.now() - found.readAt > staleMs) await read(workspaceId, found);
  return found;
}

/** Reads the counts, once for all callers that ask at the same time. */
async function read(workspaceId: string, found: KnownWaiting): Promise<void> {
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
      ? `A workspace may have ${most.messages} messages that wait to be sent; this one has ${messages}. Wait until some are sent`
      : `A workspace may have ${inMb(most.bytes)} MB of messages that wait to be sent; this one has ${inMb(bytes)} MB, and this request has ${inMb(added.bytes)} MB. Wait until some are sent`,
  });
}

const recountEveryMs = 3_600_000;
/** The shortest time between recounts of a workspace that was refused: a wrong count must not keep refusing it. */
const recountRefusedEveryMs = 60_000;
/**
 * The next recount waits this many times the duration of the last one, so recounting takes at most 1/100 of the time.
 */
const restPerRecount = 100;
const mostRecounts = 1_000;

/** Workspaces that are recounted, or were a moment ago. */
const recounted = new LRUCache<string, true>({ max: mostKnown });
forgetAtEnd(() => recounted.clear());

function recountSoon(workspaceId: string): void {
  if (recounted.has(workspaceId)) return;
  recounted.set(workspaceId, true);
  const startedAt = performance.now();
  outsideTransaction(() => recount(workspaceId, new Date(now().getTime() - recountRefusedEveryMs)))
    .catch((error) =>
      logger.debug({ err: error, workspaceId }, 'the waiting work of a workspace could not be recounted'),
    )
    .finally(() => {
      const tookMs = performance.now() - startedAt;
      recounted.set(workspaceId, true, { ttl: Math.max(recountRefusedEveryMs, restPerRecount * tookMs) });
    });
}

/**
 * Recounts the messages themselves, for each workspace once an hour. Normally the counts are right without a recount.
 * It is for rows that were changed by hand, or by a process of an older version that runs beside this one. Returns how
 * many workspaces it has recounted. If one fails, its turn comes again in an hour; the first fault is thrown after the
 * others.
 */
export async function recountDue(): Promise<number> {
  const before = new Date(now().getTime() - recountEveryMs);
  const workspaces = isolated('the waiting work of a workspace could not be recounted');
  let done = 0;
  await workspaces.each(
    await system.listWorkspacesToRecount(before, mostRecounts),
    (workspaceId) => ({ workspaceId }),
    async (workspaceId) => {
      try {
        if (await recount(workspaceId, before)) done += 1;
      } catch (error) {
        // Otherwise this workspace would be among the first of every run, and a slow recount would leave no time for
        // others.
        await workspaces.run({ workspaceId }, () => system.updateRecountFailed(workspaceId, now()));
        throw error;
      }
    },
  );
  workspaces.end();
  return done;
}

async function recount(workspaceId: string, unlessSince: Date): Promise<boolean> {
  const found = await system.findRecount(workspaceId, unlessSince);
  if (!found || !(await system.updateRecounted(workspaceId, found, now()))) return false;
  const { off } = found;
  if (off.messages !== 0 || off.bytes !== 0)
    logger.warn(
      { workspaceId, off },
      'the count of what a workspace has waiting was wrong, and is now correct',
    );
  return true;
}

/** Returns how many workspaces have used 95% of a limit, or more. */
export function findFullCount(): Promise<number> {
  const most = limits();
  const share = (value: number) => Math.min(0.95 * value, Number.MAX_SAFE_INTEGER);
  return system.findFullWorkspaceCount({ messages: share(most.messages), bytes: share(most.bytes) });
}
