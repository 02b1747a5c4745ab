import {
  isAlone,
  isStuck,
  newOrigin,
  newQueue,
  type OpenRequest,
  type Origin,
  partOf,
  slotsOf,
  usualAfter,
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
   * Runs `work` once a slot is free. Returns null if none is free in time, or if `isStillWanted` says no; it is
   * asked only after a wait.
   */
  post: <T extends object>(
    work: () => Promise<T>,
    isStillWanted?: () => Promise<boolean>,
  ) => Promise<T | null>;
  /** Gives up a place that was not used; harmless after `post`. */
  leave: () => void;
};

/** The permit of a delivery that need not wait. */
export const open: Permit = { post: (work) => work(), leave: () => undefined };

export type ConcurrencyLimiter = {
  /**
   * Null: the delivery is sent away. `share`: its part of a job, since the whole job is held up while it waits.
   * `origin`: the name under which webhooks share their slots; if left out, the webhook has slots of its own.
   */
  enter: (webhookId: string, share?: number, origin?: string) => Promise<Permit | null>;
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
  const queues = new Map<string, WebhookQueue>();
  let inFlight = 0;
  let waiting = 0;
  /** The sum of the shares of the waiting deliveries: how many jobs they make up. */
  let jobsWaiting = 0;
  let placed = 0;

  /** Returns the number of slots of an origin. */
  function slots(): number {
    const free = Math.floor((limits().inFlight - inFlight) / partOfFree);
    return Math.min(limits().perWebhook, Math.max(fewestSlots, free));
  }

  /** Returns the expected time of a request: as the last ones took, and at least the age of the oldest open request. */
  function expectedMs(queue: WebhookQueue): number {
    const [oldest] = queue.out;
    return Math.max(queue.usualMs ?? 0, oldest ? performance.now() - oldest.at : 0);
  }

  function places(queue: WebhookQueue): { free: number; ahead: number } {
    const expected = expectedMs(queue);
    const all = slots();
    const own = slotsOf(queue, all);
    const inTime = expected === 0 ? own : Math.min(mostAhead, Math.floor((own * aheadMs) / expected));
    const ahead = queue.isStuck ? 0 : Math.max(0, Math.min(inTime, limits().ahead - placed));
    const { origin } = queue;
    const taken = queue.out.size + queue.placed;
    const free = Math.min(own - taken, all - origin.out - origin.placed) + ahead;
    // Only a delivery with a place can wait for a slot, so a webhook always has places for its own part of the slots.
    return { free: Math.max(free, partOf(queue, all) - taken), ahead };
  }

  function mayWait(queue: WebhookQueue): boolean {
    const { waiting: mostJobs, isSaturated, patienceMs } = limits();
    const { origin } = queue;
    if (queue.isStuck || (queue.out.size === 0 && isStuck(queue, performance.now(), patienceMs)))
      return false;
    const usual = queue.usualMs ?? origin.usualMs;
    // The first answer will soon tell how long requests take.
    if (usual === null) return true;
    if ((origin.waiting * usual) / slots() <= shortWaitMs || isSaturated) return true;
    return origin.jobsWaiting < mostJobs - jobsWaiting;
  }

  /** Waits for a turn, runs `start` at that moment and resolves with its result; null when no turn comes in time. */
  function turn<T>(
    queue: WebhookQueue,
    waiters: Set<Waiter>,
    share: number,
    start: () => T,
  ): Promise<T | null> {
    const { origin } = queue;
    const counted = waiters === queue.forPlace ? 1 : 0;
    const count = (sign: 1 | -1) => {
      waiting += sign;
      origin.waiting += sign * counted;
      // Set to 0 when nothing waits: a sum of fractions may not come back to exactly 0.
      jobsWaiting = waiting === 0 ? 0 : jobsWaiting + sign * share;
      origin.jobsWaiting = origin.waiting === 0 ? 0 : origin.jobsWaiting + sign * share * counted;
    };
    count(1);
    watch(queue);
    return new Promise((resolve) => {
      const end = (result: T | null) => {
        waiters.delete(waiter);
        count(-1);
        resolve(result);
      };
      const waiter: Waiter = {
        since: performance.now(),
        share,
        go: () => end(start()),
        giveUp: () => end(null),
      };
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
    const time = performance.now();
    queue.isStuck = isStuck(queue, time, patienceMs);
    for (const waiter of [...queue.forSlot, ...queue.forPlace])
      if (queue.isStuck || time - waiter.since >= longestWaitMs) waiter.giveUp();
    if (queue.forSlot.size + queue.forPlace.size > 0) watch(queue);
    else close(queue);
  }

  /** Gives free places and slots away, first to the webhook that has had none for the longest time. */
  function advance({ queues: atOrigin }: Origin): void {
    // A webhook that gets a slot moves to the end of this set, and has its next turn after all others.
    for (const queue of atOrigin) {
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
    if (queue.placed + queue.out.size + queue.forPlace.size > 0) return;
    clearTimeout(queue.timer);
    origin.queues.delete(queue);
    if (queues.get(webhookId) === queue) queues.delete(webhookId);
    if (origin.queues.size === 0 && origins.get(origin.name) === origin) origins.delete(origin.name);
  }

  function placeIn(queue: WebhookQueue, share: number): Permit {
    const { origin } = queue;
    let isPlaced = true;
    const count = (sign: 1 | -1) => {
      queue.placed += sign;
      origin.placed += sign;
      placed += sign;
    };
    count(1);
    const vacate = () => {
      isPlaced = false;
      count(-1);
    };
    const leave = () => {
      if (!isPlaced) return;
      vacate();
      advance(origin);
    };
    const start = (): OpenRequest => {
      const request = { at: performance.now() };
      vacate();
      queue.out.add(request);
      origin.out += 1;
      inFlight += 1;
      // Move this queue to the end: the others come first now.
      if (!isAlone(queue)) origin.queues.delete(queue);
      origin.queues.add(queue);
      return request;
    };
    const noteAnswer = (request: OpenRequest) => {
      const time = performance.now();
      for (const ended of [queue, origin]) {
        ended.answeredAt = time;
        ended.usualMs = usualAfter(ended.usualMs, time - request.at);
      }
      for (const other of origin.queues) if (other === queue || other.out.size === 0) other.isStuck = false;
    };
    const end = (request: OpenRequest) => {
      queue.out.delete(request);
      origin.out -= 1;
      inFlight -= 1;
      advance(origin);
    };
    return {
      leave,
      post: async (work, isStillWanted) => {
        const isFree = queue.forSlot.size === 0 && queue.out.size < slotsOf(queue, slots());
        const request = isFree ? start() : await turn(queue, queue.forSlot, share, start);
        if (!request) {
          leave();
          return null;
        }
        let isMade = false;
        try {
          if (!isFree && isStillWanted && !(await isStillWanted())) return null;
          isMade = true;
          return await work();
        } finally {
          // The time of a request that was not made tells nothing about the endpoint.
          if (isMade) noteAnswer(request);
          end(request);
        }
      },
    };
  }

  function queueOf(webhookId: string, name: string): WebhookQueue {
    const known = queues.get(webhookId);
    if (known?.origin.name === name) return known;
    const origin = origins.get(name) ?? newOrigin(name);
    origins.set(name, origin);
    const queue = newQueue(webhookId, origin);
    queues.set(webhookId, queue);
    return queue;
  }

  return {
    enter: async (webhookId, share = 1, origin = webhookId) => {
      const queue = queueOf(webhookId, origin);
      const take = () => placeIn(queue, share);
      if (queue.forPlace.size === 0 && places(queue).free > 0) return take();
      if (mayWait(queue)) return turn(queue, queue.forPlace, share, take);
      close(queue);
      return null;
    },
    counts: () => ({ inFlight, waiting }),
  };
}
