import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import { outsideTransaction } from '../../db/client.ts';
import type { EmailKind } from '../../db/emails.ts';
import * as system from '../../db/system/email-admission.ts';
import { logger } from '../../logger.ts';
import { refill } from './refill.ts';
import { perRank, rankOf, soonMs, windowForLater } from './window.ts';

/**
 * What this process believes of the room that each workspace has in Redis. It counts what it lets in itself, and asks
 * MySQL now and then: a request must not wait for that. Where several processes let in at once, Redis holds a little more
 * for a moment.
 */

type Room = {
  /** Jobs in Redis: those counted last, and those let in since. */
  admitted: number;
  /** Let in since the last count began. */
  entered: number;
  /** When those were let in whose rows a count may not see yet. */
  uncommitted: Set<{ at: number }>;
  /** Others wait, or the workspace is held: what comes now goes behind. */
  isBehind: boolean;
  isLimited: boolean;
  countedAt: number;
  /** How long that took. */
  countMs: number;
  isCounting: boolean;
  timer: NodeJS.Timeout | undefined;
};

const rooms = new Map<string, Room>();
const mostRooms = 20_000;
const countEveryMs = 100;
/** Counting takes at most so small a part of the time. */
const restPerCount = 20;
const staleMs = 5_000;
/** Whose row has not come by then was rolled back. */
const longestCommitMs = 10_000;

function roomOf(workspaceId: string, kind: EmailKind): Room {
  const key = `${workspaceId} ${kind}`;
  let room = rooms.get(key);
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
    if (rooms.size >= mostRooms) rooms.delete(rooms.keys().next().value!);
    rooms.set(key, room);
  }
  return room;
}

type Waiting = { workspaceId: string; kind: EmailKind; dueAt: Date };

/** `committed` is to be called when the email's row is there for all to see. */
type Place = { hasRoom: boolean; rank: number; committed: () => void };

/** Whether there is room for a job of this email, which the caller then makes. The rank says which place it gets. */
export function enter({ workspaceId, kind, dueAt }: Waiting): Place {
  const room = roomOf(workspaceId, kind);
  const isLater = dueAt.getTime() > now().getTime() + soonMs;
  const age = performance.now() - room.countedAt;
  // What was counted long ago says nothing of now.
  const rank = age > staleMs ? 0 : rankOf(room.admitted);
  const hasRoom = isLater
    ? room.admitted < windowForLater()
    : !room.isBehind && room.admitted < config.EMAIL_JOBS_PER_WORKSPACE;
  if (hasRoom) {
    room.admitted += 1;
    room.entered += 1;
  }
  const entry = { at: performance.now() };
  if (hasRoom) room.uncommitted.add(entry);
  const isMuch = room.admitted >= Math.min(perRank, config.EMAIL_JOBS_PER_WORKSPACE / 4);
  const isTime = age >= Math.max(countEveryMs, restPerCount * room.countMs);
  if (isTime && (isMuch || room.isLimited)) void count(room, workspaceId, kind);
  return { hasRoom, rank, committed: () => void room.uncommitted.delete(entry) };
}

/** After an email found no room: looks a little later whether there is some. */
export function lookSoon({ workspaceId, kind }: Pick<Waiting, 'workspaceId' | 'kind'>): void {
  const room = roomOf(workspaceId, kind);
  room.timer ??= setTimeout(() => {
    room.timer = undefined;
    refill(kind, [workspaceId], 'request')
      .catch((error) => logger.debug({ err: error, workspaceId }, 'waiting emails are left to the sweep'))
      .finally(() => void count(room, workspaceId, kind));
  }, countEveryMs).unref();
}

async function count(room: Room, workspaceId: string, kind: EmailKind): Promise<void> {
  if (room.isCounting) return;
  room.isCounting = true;
  room.entered = 0;
  const [time, startedAt] = [now(), performance.now()];
  for (const entry of room.uncommitted)
    if (performance.now() - entry.at > longestCommitMs) room.uncommitted.delete(entry);
  const uncommitted = room.uncommitted.size;
  try {
    const [found] = await outsideTransaction(() =>
      system.listAdmissions(kind, [workspaceId], new Date(time.getTime() + soonMs)),
    );
    room.admitted = (found?.admitted ?? 0) + uncommitted + room.entered;
    room.isLimited = found?.isLimited ?? false;
    const isHeld = room.isLimited && found!.heldUntil !== null && found!.heldUntil > time;
    room.isBehind = found !== undefined && (found.hasParked || found.sendingBlocked || isHeld);
  } catch (error) {
    logger.debug({ err: error, workspaceId }, 'the room for emails could not be counted');
  } finally {
    room.countedAt = performance.now();
    room.countMs = room.countedAt - startedAt;
    room.isCounting = false;
  }
}
