import { LRUCache } from 'lru-cache';
import { fromNow, now } from '../common/clock.ts';
import { logger } from '../common/logger.ts';
import { outsideTransaction } from '../db/client.ts';
import { soonMs } from './refill.ts';

/**
 * How many jobs each owner has in Redis, as far as this process knows. A request must not wait for a count in MySQL. So
 * the process counts there now and then, and in between adds the rows that it admits itself. If several processes admit
 * at once, Redis briefly holds a few jobs more than the window.
 */

type OwnerWindow = {
  /** Jobs in Redis: the last count, and those admitted since. */
  admitted: number;
  /** Rows that were admitted and may not be committed yet, so a count misses them. `at`: when they were admitted. */
  uncommitted: Set<{ at: number }>;
  /** The owner has parked rows in MySQL, or is held back: new rows are parked behind them. */
  isBehind: boolean;
  isLimited: boolean;
  countedAt: number;
  /** How long the last count took. */
  countMs: number;
  isCounting: boolean;
  timer: NodeJS.Timeout | undefined;
};

function newWindow(): OwnerWindow {
  return {
    admitted: 0,
    uncommitted: new Set(),
    isBehind: false,
    isLimited: false,
    countedAt: Number.NEGATIVE_INFINITY,
    countMs: 0,
    isCounting: false,
    timer: undefined,
  };
}

/** The result of a count. */
type WindowCount = { admitted: number; isBehind: boolean; isLimited: boolean };

const mostWindows = 20_000;
const countEveryMs = 100;
/** The next count waits this many times the duration of the last one, so counting takes a twentieth of the time. */
const restPerCount = 20;
const staleMs = 5_000;
/** A row that is not committed by then was rolled back. */
const longestCommitMs = 10_000;
/** When owners take turns, this many jobs of an owner go together. */
const perRank = 25;

/**
 * Returns the priority of an owner's next job, by the number of jobs that the owner has in Redis already. The first
 * jobs of all owners are equal, and later ones rank further back: so owners with a backlog take turns, and owners
 * without one pass them.
 */
export function rankOf(admitted: number): number {
  return Math.floor(Math.max(0, admitted) / perRank);
}

/**
 * Returns how many places of a window may go to rows that are due much later: half of them at most, because the rest is
 * for rows that are due earlier. A window of one place has none for later rows.
 */
export const windowForLater = (window: number): number => Math.floor(window / 2);

/**
 * `isGranted`: the caller makes a job for the row, with this rank. The caller calls `committed` once the transaction of
 * the row has committed.
 */
type AdmissionPermit = { isGranted: boolean; rank: number; committed: () => void };

export function admissionWindows<Lane extends string>(options: {
  /** Jobs of one owner in one lane. */
  window: () => number;
  /** Null: there is no such owner. */
  count: (lane: Lane, ownerId: string, dueBefore: Date) => Promise<WindowCount | null>;
  refill: (lane: Lane, ownerIds: string[], by: 'request') => Promise<unknown>;
}) {
  const known = new LRUCache<string, OwnerWindow>({ max: mostWindows, memoMethod: newWindow });
  const windowOf = (lane: Lane, ownerId: string) => known.memo(`${ownerId} ${lane}`);

  async function count(own: OwnerWindow, lane: Lane, ownerId: string): Promise<void> {
    if (own.isCounting) return;
    own.isCounting = true;
    const before = own.admitted;
    const startedAt = performance.now();
    for (const entry of own.uncommitted)
      if (startedAt - entry.at > longestCommitMs) own.uncommitted.delete(entry);
    const uncommitted = own.uncommitted.size;
    try {
      const found = await outsideTransaction(() => options.count(lane, ownerId, fromNow(soonMs)));
      own.admitted += (found?.admitted ?? 0) + uncommitted - before;
      own.isLimited = found?.isLimited ?? false;
      own.isBehind = found?.isBehind ?? false;
    } catch (error) {
      logger.debug({ err: error, ownerId }, 'the admission window could not be counted');
    } finally {
      own.countedAt = performance.now();
      own.countMs = own.countedAt - startedAt;
      own.isCounting = false;
    }
  }

  return {
    /** Grants a new row of this owner a job if the window has a place for it, and counts that job. */
    tryAdmit: (lane: Lane, ownerId: string, dueAt: Date): AdmissionPermit => {
      const own = windowOf(lane, ownerId);
      const window = options.window();
      const isLater = dueAt.getTime() > now().getTime() + soonMs;
      const age = performance.now() - own.countedAt;
      // An old count says nothing about now.
      const rank = age > staleMs ? 0 : rankOf(own.admitted);
      const isGranted = isLater
        ? own.admitted < windowForLater(window)
        : !own.isBehind && own.admitted < window;
      const entry = { at: performance.now() };
      if (isGranted) {
        own.admitted += 1;
        own.uncommitted.add(entry);
      }
      const isMuch = own.admitted >= Math.min(perRank, window / 4);
      const isTime = age >= Math.max(countEveryMs, restPerCount * own.countMs);
      if (isTime && (isMuch || own.isLimited)) void count(own, lane, ownerId);
      return { isGranted, rank, committed: () => void own.uncommitted.delete(entry) };
    },

    /** For a row that was not admitted: checks a little later whether the window has places again. */
    checkSoon: (lane: Lane, ownerId: string): void => {
      const own = windowOf(lane, ownerId);
      own.timer ??= setTimeout(() => {
        own.timer = undefined;
        options
          .refill(lane, [ownerId], 'request')
          .catch((error) => logger.debug({ err: error, ownerId }, 'waiting work is left to the sweep'))
          .finally(() => void count(own, lane, ownerId));
      }, countEveryMs).unref();
    },
  };
}
