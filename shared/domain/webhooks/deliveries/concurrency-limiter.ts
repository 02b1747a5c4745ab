import {
  expectedMs,
  isAlone,
  isStuck,
  newOrigin,
  newQueue,
  noteAnswer,
  type OpenRequest,
  type Origin,
  partOf,
  slotsOf,
  type UnderWay,
  type Waiter,
  type WebhookQueue,
} from './webhook-queue.ts';

/**
 * Limits the open requests to one webhook, and to all webhooks of one origin, in this process.
 *
 * A delivery takes two steps. First it gets a place, and its row is claimed; then it gets a slot, which it holds while
 * its request is open. Places are given a little before the slots, so that claims are ready when a slot comes free.
 *
 * A delivery waits for its place here and not in Redis, since fast endpoints answer in a moment. A delivery that would
 * wait for long is sent away: it would take the room that deliveries of other webhooks need.
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
   * Null: the delivery is sent away. `origin`: the name under which webhooks share their slots. `share`: the delivery's
   * part of a job, since the whole job is held up while it waits.
   */
  enter: (webhookId: string, origin: string, share: number) => Promise<Permit | null>;
  /** Returns the number of open requests, and of deliveries that wait. */
  counts: () => { inFlight: number; waiting: number };
};

export type ConcurrencyLimits = {
  /** The most open requests to one webhook, and to one origin. */
  perWebhook: number;
  /** As the open requests to all webhooks come near this number, each origin gets fewer and fewer slots. */
  inFlight: number;
  /**
   * At most this many deliveries, of all webhooks, have a place and no slot; then only a free slot gives a place.
   */
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

/** An origin gets at least this many slots, however many webhooks there are. */
const fewestSlots = 2;
/** An origin gets at most one eighth of the slots that are free. */
const partOfFree = 8;
/** Places are given for requests that can begin within this time. */
const aheadMs = 500;
const mostAhead = 200;
/** Up to this expected wait, a queue may be of any length. Queues with a longer wait share the limit `waiting`. */
const shortWaitMs = 1_000;

export function createConcurrencyLimiter(limits: () => ConcurrencyLimits): ConcurrencyLimiter {
  const origins = new Map<string, Origin>();
  /** The deliveries of all webhooks, with those that wait for a slot. `jobsWaiting`: how many jobs they make up. */
  const all = { placed: 0, out: new Set<OpenRequest>(), waiting: 0, jobsWaiting: 0 };

  /** Returns the number of slots of an origin. */
  function slots(): number {
    const free = Math.floor((limits().inFlight - all.out.size) / partOfFree);
    return Math.min(limits().perWebhook, Math.max(fewestSlots, free));
  }

  function places(queue: WebhookQueue): { free: number; ahead: number } {
    const expected = expectedMs(queue);
    const ofOrigin = slots();
    const own = slotsOf(queue, ofOrigin);
    const inTime = expected === 0 ? own : Math.min(mostAhead, Math.floor((own * aheadMs) / expected));
    const ahead = queue.isStuck ? 0 : Math.max(0, Math.min(inTime, limits().ahead - all.placed));
    const taken = queue.out.size + queue.placed;
    const takenOfOrigin = queue.origin.out.size + queue.origin.placed;
    const free = Math.min(own - taken, ofOrigin - takenOfOrigin) + ahead;
    // Only a delivery with a place can wait for a slot, so a webhook always has places for its own part of the slots.
    return { free: Math.max(free, partOf(queue, ofOrigin) - taken), ahead };
  }

  function mayWait(queue: WebhookQueue): boolean {
    const { waiting: mostJobs, isSaturated, patienceMs } = limits();
    const { origin } = queue;
    if (queue.isStuck || (queue.out.size === 0 && isStuck(queue, patienceMs))) return false;
    const usual = queue.usualMs ?? origin.usualMs;
    // The first answer will soon tell how long requests take.
    if (usual === null) return true;
    if ((origin.waiting * usual) / slots() <= shortWaitMs || isSaturated) return true;
    return origin.jobsWaiting < mostJobs - all.jobsWaiting;
  }

  /** Waits for a turn, runs `start` at that moment and resolves with its result; null when no turn comes in time. */
  function turn<T>(
    queue: WebhookQueue,
    waiters: Set<Waiter>,
    share: number,
    start: () => T,
  ): Promise<T | null> {
    const counts = waiters === queue.forPlace ? [all, queue.origin] : [all];
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
    });
  }

  function watch(queue: WebhookQueue): void {
    // One turn of the event loop later: if this process itself stood still, answers that arrived meanwhile still count.
    queue.timer ??= setTimeout(() => setImmediate(() => check(queue)), limits().patienceMs);
  }

  function check(queue: WebhookQueue): void {
    queue.timer = undefined;
    const { longestWaitMs, patienceMs } = limits();
    queue.isStuck = isStuck(queue, patienceMs);
    for (const waiter of [...queue.forSlot, ...queue.forPlace])
      if (queue.isStuck || performance.now() - waiter.since >= longestWaitMs) waiter.giveUp();
    if (queue.forSlot.size + queue.forPlace.size > 0) watch(queue);
    else close(queue);
  }

  /** Gives free places and slots away, first to the webhook that has had none for the longest time. */
  function advance({ queues }: Origin): void {
    // A webhook that gets a slot moves to the end of these queues, and has its next turn after all others.
    for (const queue of queues.values()) {
      for (const waiter of queue.forSlot) {
        if (queue.out.size >= slotsOf(queue, slots())) break;
        waiter.go();
      }
      const { free, ahead } = places(queue);
      // Give several places at a time, so that their claims share a statement; one by one where other webhooks compete.
      const least = isAlone(queue) ? ahead / 2 : 1;
      if (free > 0 && free >= Math.min(queue.forPlace.size, least))
        for (const waiter of [...queue.forPlace].slice(0, free)) waiter.go();
      close(queue);
    }
  }

  /** Forgets a queue that holds no delivery any more. */
  function close(queue: WebhookQueue): void {
    const { webhookId, origin } = queue;
    const isInUse = queue.placed + queue.out.size + queue.forPlace.size > 0;
    // A late check may find that the queue is closed, and that its webhook has another one.
    if (isInUse || origin.queues.get(webhookId) !== queue) return;
    clearTimeout(queue.timer);
    origin.queues.delete(webhookId);
    if (origin.queues.size === 0) origins.delete(origin.name);
  }

  function placeIn(queue: WebhookQueue, share: number): Permit {
    const { webhookId, origin } = queue;
    const levels: UnderWay[] = [queue, origin, all];
    for (const level of levels) level.placed += 1;
    let isPlaced = true;
    const vacate = () => {
      isPlaced = false;
      for (const level of levels) level.placed -= 1;
    };
    const leave = () => {
      if (!isPlaced) return;
      vacate();
      advance(origin);
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
        const isFree = queue.forSlot.size === 0 && queue.out.size < slotsOf(queue, slots());
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
          advance(origin);
        }
      },
    };
  }

  function queueOf(webhookId: string, name: string): WebhookQueue {
    const origin = origins.get(name) ?? newOrigin(name);
    const queue = origin.queues.get(webhookId) ?? newQueue(webhookId, origin);
    origins.set(name, origin);
    origin.queues.set(webhookId, queue);
    return queue;
  }

  return {
    enter: async (webhookId, origin, share) => {
      const queue = queueOf(webhookId, origin);
      const take = () => placeIn(queue, share);
      if (queue.forPlace.size === 0 && places(queue).free > 0) return take();
      if (mayWait(queue)) return turn(queue, queue.forPlace, share, take);
      close(queue);
      return null;
    },
    counts: () => ({ inFlight: all.out.size, waiting: all.waiting }),
  };
}
