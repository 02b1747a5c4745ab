import { LRUCache } from 'lru-cache';
import { fromNow } from '../common/clock.ts';
import { mostBeside } from '../common/fair-shares.ts';
import { logger } from '../common/logger.ts';
import { type Semaphore, semaphore } from '../common/semaphore.ts';
import { createAdaptiveLimit } from './adaptive-limit.ts';

/** A lane counts as busy if it had something to do within this time. */
const activeForMs = 2_000;
const longestWaitMs = 1_000;
/**
 * When as many rows of an owner have ended as this part (1/20) of its window, the process checks whether more of its
 * rows wait for room.
 */
const partOfWindow = 20;
const fewestSlots = 2;
/**
 * Long work ends its turn after this time, so that others get a turn, and a worker that must stop need not wait for the
 * end of the work.
 */
export const turnMs = 2_000;
/** A job for which there was no slot comes again after this time. */
export const againMs = 500;

export const againIn = (ms: number): { retryAt: Date } => ({ retryAt: fromNow(ms) });

/** The most owners whose ended rows are counted. The count of an owner that was forgotten starts again at 0. */
const mostOwners = 10_000;
/**
 * Makes the slots of a lane. An owner may hold a share of those that the others leave. Its further work waits for a
 * moment in this process, and then in Redis.
 */
export function laneSlots(slots: () => number, waitMs = longestWaitMs): Semaphore {
  return semaphore({ inAll: slots, permits: (others) => mostBeside(others, slots()), waitMs });
}

/**
 * Makes the function that gives a job its turn. The function does the work as soon as the job's owner has a slot of the
 * lane, and admits the owner's next rows when enough rows have ended. It returns null, and does no work, where no slot
 * came free in time.
 */
export function turns<Lane extends string>(options: {
  /** The most urgent first. */
  lanes: readonly Lane[];
  /** The slots of each lane. */
  slots: () => number;
  /** The part of its slots that a lane keeps while a more urgent lane has something to do; all if left out. */
  keptBesideOthers: Partial<Record<Lane, number>>;
  window: () => number;
  refill: (lane: Lane, ownerIds: string[], by: 'worker') => Promise<unknown>;
}) {
  const { lanes, slots, keptBesideOthers, window, refill } = options;
  const perLane = new Map(
    lanes.map((lane) => [
      lane,
      {
        activeAt: Number.NEGATIVE_INFINITY,
        limiter: laneSlots(() => slotsOf(lane)),
        adaptive: createAdaptiveLimit({ fewest: fewestSlots }),
      },
    ]),
  );
  /** How many of an owner's rows have ended since this process looked whether more wait for room. */
  const ended = new LRUCache<string, number>({ max: mostOwners });
  const checking = new Set<string>();

  /**
   * Returns the slots of a lane, fewer while a more urgent lane is busy: all lanes of a process share one processor, so
   * rows of a later lane hold up an earlier one.
   */
  function slotsOf(lane: Lane): number {
    const since = performance.now() - activeForMs;
    const earlier = lanes.slice(0, lanes.indexOf(lane));
    if (earlier.every((one) => perLane.get(one)!.activeAt < since)) return slots();
    const kept = Math.max(fewestSlots, Math.floor(slots() * (keptBesideOthers[lane] ?? 1)));
    return perLane.get(lane)!.adaptive(kept);
  }

  async function admitNext(lane: Lane, ownerId: string): Promise<void> {
    const key = `${ownerId} ${lane}`;
    const since = (ended.get(key) ?? 0) + 1;
    ended.set(key, since);
    if (since < window() / partOfWindow || checking.has(key)) return;
    ended.delete(key);
    checking.add(key);
    try {
      await refill(lane, [ownerId], 'worker');
    } catch (error) {
      // The work itself has ended, so this fault must not change its outcome.
      logger.debug({ err: error, ownerId }, 'the next rows are left to the sweep');
    } finally {
      checking.delete(key);
    }
  }

  /** `rowLane` is the lane of the row, if its job is in another lane. Jobs of an older version have no `ownerId`. */
  return async <T>(
    turn: { lane: Lane; rowLane?: Lane; ownerId: string | undefined; id: string },
    work: () => Promise<T>,
  ): Promise<T | null> => {
    const own = perLane.get(turn.lane)!;
    own.activeAt = performance.now();
    const release = await own.limiter.acquire(turn.ownerId ?? turn.id);
    if (!release) return null;
    try {
      return await work();
    } finally {
      release();
      if (turn.ownerId) await admitNext(turn.rowLane ?? turn.lane, turn.ownerId);
    }
  };
}
