import { LRUCache } from 'lru-cache';
import { now } from '../common/clock.ts';
import { logger } from '../common/logger.ts';
import { outsideTransaction } from '../db/client.ts';
import { soonMs } from './refill.ts';

/**
 * How many jobs each owner has in Redis, as far as this process knows. A request must not wait for a count in MySQL, so
 * the process counts there now and then, and adds the rows that it admits itself in between. Where several processes
 * admit at once, Redis holds a few jobs more than the window for a moment.
 */

type KnownRoom = {
  /** Jobs in Redis: the last count, and those admitted since. */
  admitted: number;
  /** Admitted since the last count began. */
  entered: number;
  /** Rows that were admitted and may not be committed yet, so a count misses them. `at`: when they were admitted. */
  uncommitted: Set<{ at: number }>;
  /** Rows of the owner wait in MySQL already, or the owner is held back: new rows go behind them. */
  isBehind: boolean;
  isLimited: boolean;
  countedAt: number;
  /** How long that took. */
  countMs: number;
  isCounting: boolean;
  timer: NodeJS.Timeout | undefined;
};

/** The result of a count. */
type RoomCount = { admitted: number; isBehind: boolean; isLimited: boolean };

const mostRooms = 20_000;
const countEveryMs = 100;
/** After a count this many times its duration passes before the next, so counting takes a twentieth of the time. */
const restPerCount = 20;
const staleMs = 5_000;
/** A row that is not committed by then was rolled back. */
const longestCommitMs = 10_000;
/** So many jobs of an owner go together when owners take turns. */
const perRank = 25;

/**
 * The priority of a job of an owner that has so many in Redis: its first ones go beside those of others, and the further
 * back the later, so that owners with a backlog take turns and those without one pass them.
 */
export function rankOf(admitted: number): number {
  return Math.floor(Math.max(0, admitted) / perRank);
}

/** How many rows that are due much later may be in Redis; the rest is for those that come up before them. */
export const windowForLater = (window: number): number => Math.ceil(window / 2);

/**
 * `hasRoom`: the caller makes a job for the row, with this rank. `committed` is to be called when the row is there for all
 * to see.
 */
type RoomPermit = { hasRoom: boolean; rank: number; committed: () => void };

export function rooms<Lane extends string>(options: {
  /** Jobs of one owner in one lane. */
  window: () => number;
  /** Null: there is no such owner. */
  count: (lane: Lane, ownerId: string, dueBefore: Date) => Promise<RoomCount | null>;
  refill: (lane: Lane, ownerIds: string[], by: 'request') => Promise<unknown>;
}) {
  const known = new LRUCache<string, KnownRoom>({ max: mostRooms });

  function roomOf(lane: Lane, ownerId: string): KnownRoom {
    const key = `${ownerId} ${lane}`;
    let room = known.get(key);
    if (!room) {
      room = {
        admitted: 0,
        entered: 0,
        uncommitted: new Set(),
        isBehind: false,
        isLimited: false,
        countedAt: Number.NEGATIVE_INFINITY,
        countMs: 0,
        isCounting: false,
        timer: undefined,
      };
      known.set(key, room);
    }
    return room;
  }

  async function count(room: KnownRoom, lane: Lane, ownerId: string): Promise<void> {
    if (room.isCounting) return;
    room.isCounting = true;
    room.entered = 0;
    const startedAt = performance.now();
    for (const entry of room.uncommitted)
      if (startedAt - entry.at > longestCommitMs) room.uncommitted.delete(entry);
    const uncommitted = room.uncommitted.size;
    try {
      const found = await outsideTransaction(() =>
        options.count(lane, ownerId, new Date(now().getTime() + soonMs)),
      );
      room.admitted = (found?.admitted ?? 0) + uncommitted + room.entered;
      room.isLimited = found?.isLimited ?? false;
      room.isBehind = found?.isBehind ?? false;
    } catch (error) {
      logger.debug({ err: error, ownerId }, 'the room for work could not be counted');
    } finally {
      room.countedAt = performance.now();
      room.countMs = room.countedAt - startedAt;
      room.isCounting = false;
    }
  }

  return {
    /** Whether there is room for a job of a new row of this owner. */
    enter: (lane: Lane, ownerId: string, dueAt: Date): RoomPermit => {
      const room = roomOf(lane, ownerId);
      const window = options.window();
      const isLater = dueAt.getTime() > now().getTime() + soonMs;
      const age = performance.now() - room.countedAt;
      // A count of long ago says nothing of now.
      const rank = age > staleMs ? 0 : rankOf(room.admitted);
      const hasRoom = isLater
        ? room.admitted < windowForLater(window)
        : !room.isBehind && room.admitted < window;
      const entry = { at: performance.now() };
      if (hasRoom) {
        room.admitted += 1;
        room.entered += 1;
        room.uncommitted.add(entry);
      }
      const isMuch = room.admitted >= Math.min(perRank, window / 4);
      const isTime = age >= Math.max(countEveryMs, restPerCount * room.countMs);
      if (isTime && (isMuch || room.isLimited)) void count(room, lane, ownerId);
      return { hasRoom, rank, committed: () => void room.uncommitted.delete(entry) };
    },

    /** For a row that found no room: checks a little later whether some has come free. */
    checkSoon: (lane: Lane, ownerId: string): void => {
      const room = roomOf(lane, ownerId);
      room.timer ??= setTimeout(() => {
        room.timer = undefined;
        options
          .refill(lane, [ownerId], 'request')
          .catch((error) => logger.debug({ err: error, ownerId }, 'waiting work is left to the sweep'))
          .finally(() => void count(room, lane, ownerId));
      }, countEveryMs).unref();
    },
  };
}
