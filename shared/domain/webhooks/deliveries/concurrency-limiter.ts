import { shareOf } from '../../../common/fair-shares.ts';
import {
  type AnsweredRequests,
  createQueues,
  expectedMs,
  inFlightOf,
  isAlone,
  isQuick,
  isStuck,
  noteAnswer,
  type OpenRequest,
  type Origin,
  type OriginName,
  openOf,
  partOf,
  slotsOf,
  type UnderWay,
  type Waiter,
  type WebhookQueue,
} from './webhook-queue.ts';

/**
 * Limits the open requests to one webhook, to all webhooks of one origin, and of one workspace, in this process.
 *
 * A delivery takes two steps. First it gets a place, and its row is claimed; then it gets a slot, which it holds while
 * its request is open. Places are given a little before the slots, so that claims are ready when a slot comes free.
 *
 * A delivery waits for its place here and not in Redis, since fast endpoints answer in a moment. A delivery that would
 * wait for long is sent away: it would take the room that deliveries of other webhooks need.
 *
 * Nobody knows beforehand whether an endpoint will answer. So a workspace has a share of the open requests: a part of
 * those that the others leave, and the square of that part at origins that are not known to be quick. However many
 * hosts of a workspace hang, and of many workspaces, the process has jobs left for others.
 */

/** A place in the queue of a webhook, and the right to a slot later. */
export type Permit = {
  /**
   * Runs `work` once a slot is free, and returns its result; null if none is free in time. `work` is told whether it had
   * to wait, and returns null if it makes no request after all.
   */
  post: <T extends object>(work: (hasWaited: boolean) => Promise<T | null>) => Promise<T | null>;
  /** Gives up a place that was not used; harmless after `post`. */
  leave: () => void;
};

/** The permit of a delivery that need not wait. */
export const open: Permit = { post: (work) => work(false), leave: () => undefined };

export type ConcurrencyLimiter = {
  /**
   * Null: the delivery is sent away. `share`: the delivery's part of a job, since the whole job is held up while it
   * waits.
   */
  enter: (webhookId: string, origin: OriginName, share: number) => Promise<Permit | null>;
  /** Returns the number of open requests, and of deliveries that wait. */
  counts: () => { inFlight: number; waiting: number };
};

export type ConcurrencyLimits = {
  /** The most open requests to one webhook, and to one origin. */
  perWebhook: number;
  /** A workspace has this many at most. As the open requests come near it, each origin gets fewer and fewer slots. */
  inFlight: number;
  /** With this many open, of all workspaces, a further one gets the fewest slots, and no job waits for a slow webhook. */
  inAll: number;
  /** At most this many deliveries, of all webhooks, have a place and no slot; then only a free slot gives a place. */
  ahead: number;
  /**
   * At most this many jobs may wait for slow webhooks: those of one origin half of that, of two a third each, etc.
   */
  waiting: number;
  longestWaitMs: number;
  /** No delivery waits for a webhook that has answered nothing for this time. */
  patienceMs: number;
  /**
   * This process is the bottleneck, so all webhooks seem slow. Sending deliveries away would then serve no other
   * webhook sooner.
   */
  isSaturated: boolean;
};

/** An origin gets at least this many slots, however many webhooks there are; so does a workspace, at quick origins. */
const fewestSlots = 2;
/** Of the share of origins that are not known to be quick, the rest is for the first request to each of them. */
const partOfUnproven = 0.75;
/** Origins that wait for their workspace's share and get their turn when one request ends. */
const turnsAtOnce = 4;
/** An origin gets at most one eighth of the slots that are free. */
const partOfFree = 8;
/** Places are given for requests that can begin within this time. */
const aheadMs = 500;
const mostAhead = 200;
/** Up to this expected wait, a queue may be of any length. Queues with a longer wait share the limit `waiting`. */
const shortWaitMs = 1_000;

/** Makes a limiter; it reads a limit anew each time, so `limits` may have getters. */
export function createConcurrencyLimiter(limits: Readonly<ConcurrencyLimits>): ConcurrencyLimiter {
  const queues = createQueues();
  /** The deliveries of all webhooks, with those that wait for a slot. `jobsWaiting`: how many jobs they make up. */
  const all = { placed: 0, out: new Set<OpenRequest>(), waiting: 0, jobsWaiting: 0 };

  /** Returns how many more its workspace may have at this origin: open requests, or deliveries with a place too. */
  function roomFor(origin: Origin, counted: typeof openOf): number {
    const { inFlight, inAll } = limits;
    const { workspace } = origin;
    const isKnown = isQuick(origin);
    const sizeOf = isKnown ? openOf : counted;
    const left = Math.max(0, inAll - sizeOf(all) + sizeOf(workspace)) / inAll;
    const free = Math.max(fewestSlots, shareOf(inFlight, left, true)) - sizeOf(workspace);
    const part = sizeOf(origin) === 0 ? 1 : partOfUnproven;
    const unproven = Math.max(1, shareOf(part * inFlight, left, false)) - sizeOf(workspace.unproven);
    return Math.max(0, Math.floor(isKnown ? free : Math.min(free, unproven)));
  }

  /** Returns the number of slots of an origin. */
  function slots(origin: Origin): number {
    const free = Math.floor((limits.inFlight - all.out.size) / partOfFree);
    const most = Math.min(limits.perWebhook, Math.max(fewestSlots, free));
    return Math.min(most, origin.out.size + roomFor(origin, openOf));
  }

  function places(queue: WebhookQueue): { free: number; ahead: number } {
    const expected = expectedMs(queue);
    const ofOrigin = slots(queue.origin);
    const own = slotsOf(queue, ofOrigin);
    const room = roomFor(queue.origin, inFlightOf);
    const inTime = expected === 0 ? own : Math.min(mostAhead, Math.floor((own * aheadMs) / expected));
    const ahead = queue.isStuck ? 0 : Math.max(0, Math.min(inTime, limits.ahead - all.placed, room));
    const taken = queue.out.size + queue.placed;
    const takenOfOrigin = queue.origin.out.size + queue.origin.placed;
    const free = Math.min(own - taken, ofOrigin - takenOfOrigin) + ahead;
    // Only a delivery with a place can wait for a slot, so a webhook always has places for its own part of the slots.
    return { free: Math.min(room, Math.max(free, partOf(queue, ofOrigin) - taken)), ahead };
  }

  /** Returns the requests whose answers make room for a webhook: its own, or those of its origin or workspace. */
  function awaited(queue: WebhookQueue): AnsweredRequests {
    const { origin } = queue;
    if (queue.out.size > 0) return queue;
    return origin.out.size === 0 && roomFor(origin, inFlightOf) === 0 ? origin.workspace : origin;
  }

  function mayWait(queue: WebhookQueue): boolean {
    const { waiting, inAll } = limits;
    const { origin } = queue;
    if (queue.isStuck || (queue.out.size === 0 && isStuck(awaited(queue), limits.patienceMs))) return false;
    const isShort = roomFor(origin, inFlightOf) === 0;
    const usual = queue.usualMs ?? origin.usualMs ?? (isShort ? expectedMs(origin.workspace) : null);
    // The first answer will soon tell how long requests take.
    if (usual === null) return true;
    const sharing = isShort ? origin.workspace : origin;
    const turns = isShort ? Math.max(1, origin.workspace.out.size) : slots(origin);
    if ((sharing.waiting * usual) / turns <= shortWaitMs || limits.isSaturated) return true;
    return sharing.jobsWaiting < Math.min(waiting, inAll - all.out.size) - all.jobsWaiting;
  }

  /** Waits for a turn, runs `start` at that moment and resolves with its result; null when no turn comes in time. */
  function turn<T>(
    queue: WebhookQueue,
    waiters: Set<Waiter>,
    share: number,
    start: () => T,
  ): Promise<T | null> {
    const counts = waiters === queue.forPlace ? [all, queue.origin, queue.origin.workspace] : [all];
    const count = (sign: 1 | -1) => {
      for (const each of counts) {
        each.waiting += sign;
        each.jobsWaiting += sign * share;
      }
    };
    count(1);
    watch(queue);
    return new Promise((resolve) => {
      const end = (result: T | null) => {
        waiters.delete(waiter);
        count(-1);
        resolve(result);
      };
      const waiter: Waiter = { since: performance.now(), go: () => end(start()), giveUp: () => end(null) };
      waiters.add(waiter);
      noteShort(queue.origin);
    });
  }

  function watch(queue: WebhookQueue): void {
    // One turn of the event loop later: if this process itself stood still, answers that arrived meanwhile still count.
    queue.timer ??= setTimeout(() => setImmediate(() => check(queue)), limits.patienceMs);
  }

  function check(queue: WebhookQueue): void {
    queue.timer = undefined;
    const { longestWaitMs, patienceMs } = limits;
    // Other workspaces may have left room meanwhile.
    advance(queue.origin);
    queue.isStuck = isStuck(awaited(queue), patienceMs);
    for (const waiter of [...queue.forSlot, ...queue.forPlace])
      if (queue.isStuck || performance.now() - waiter.since >= longestWaitMs) waiter.giveUp();
    // When they came, nobody knew how long the requests would take.
    for (const waiter of [...queue.forPlace].toReversed()) {
      if (mayWait(queue)) break;
      waiter.giveUp();
    }
    if (queue.forSlot.size + queue.forPlace.size > 0) watch(queue);
    else queues.close(queue);
  }

  /** Notes an origin whose deliveries wait although none of its requests is open: they wait for those of others. */
  function noteShort(origin: Origin): void {
    const waits = ({ forPlace, forSlot }: WebhookQueue) => forPlace.size + forSlot.size > 0;
    if (origin.out.size === 0 && origin.queues.values().some(waits)) origin.workspace.short.add(origin);
  }

  /** Gives on what a request leaves: in turn to origins that wait for the workspace's share, then at its own origin. */
  function passOn(origin: Origin): void {
    const { short } = origin.workspace;
    for (const next of short.size > 0 ? [...short.values().take(turnsAtOnce), origin] : [origin]) {
      short.delete(next);
      advance(next);
      noteShort(next);
    }
  }

  /** Gives free places and slots away, first to the webhook that has had none for the longest time. */
  function advance(origin: Origin): void {
    // A webhook that gets a slot moves to the end of these queues, and has its next turn after all others.
    for (const queue of origin.queues.values()) {
      for (const waiter of queue.forSlot) {
        if (queue.out.size >= slotsOf(queue, slots(origin))) break;
        waiter.go();
      }
      const { free, ahead } = places(queue);
      // Give several places at a time, so that their claims share a statement; one by one where other webhooks compete.
      const least = isAlone(queue) ? ahead / 2 : 1;
      if (free > 0 && free >= Math.min(queue.forPlace.size, least))
        for (const waiter of [...queue.forPlace].slice(0, free)) waiter.go();
      queues.close(queue);
    }
  }

  function placeIn(queue: WebhookQueue, share: number): Permit {
    const { webhookId, origin } = queue;
    const levels: UnderWay[] = [queue, origin, origin.workspace, all];
    if (!isQuick(origin)) levels.push(origin.workspace.unproven);
    for (const level of levels) level.placed += 1;
    let isPlaced = true;
    const vacate = () => {
      isPlaced = false;
      for (const level of levels) level.placed -= 1;
    };
    const leave = () => {
      if (!isPlaced) return;
      vacate();
      passOn(origin);
    };
    const start = (): OpenRequest => {
      vacate();
      const request = { at: performance.now() };
      for (const level of levels) level.out.add(request);
      // Move this queue to the end: the others come first now.
      if (!isAlone(queue)) {
        origin.queues.delete(webhookId);
        origin.queues.set(webhookId, queue);
      }
      return request;
    };
    return {
      leave,
      post: async (work) => {
        const isFree = queue.forSlot.size === 0 && queue.out.size < slotsOf(queue, slots(origin));
        const request = isFree ? start() : await turn(queue, queue.forSlot, share, start);
        if (!request) {
          leave();
          return null;
        }
        try {
          const result = await work(!isFree);
          // The time of a request that was not made tells nothing about the endpoint.
          if (result) noteAnswer(queue, request);
          return result;
        } finally {
          for (const level of levels) level.out.delete(request);
          passOn(origin);
        }
      },
    };
  }

  return {
    enter: async (webhookId, origin, share) => {
      const queue = queues.queueOf(webhookId, origin);
      const take = () => placeIn(queue, share);
      if (queue.forPlace.size === 0 && places(queue).free > 0) return take();
      if (mayWait(queue)) return turn(queue, queue.forPlace, share, take);
      queues.close(queue);
      return null;
    },
    counts: () => ({ inFlight: all.out.size, waiting: all.waiting }),
  };
}
