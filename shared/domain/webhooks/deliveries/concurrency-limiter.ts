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
 * Limits the requests that are out to one webhook, and to all webhooks of one origin, in this process.
 *
 * A delivery takes two steps. First it gets a place, with which its row is claimed; then a slot, which it holds while its
 * request is out. Places are given a little ahead of the slots, so that the claims are ready when a slot comes free.
 *
 * A delivery waits for its place here and not in Redis, since fast endpoints are done in a moment. One that would wait
 * for long is sent away: it would take the room that deliveries of other webhooks need.
 */

/** A place in the queue of a webhook, and the right to a slot later. */
export type Permit = {
  /** Does the work when there is a slot. Null: there was none in time, and the work is not done. */
  post: <T extends object>(work: () => Promise<T>) => Promise<T | null>;
  /** Gives up a place that was not used; harmless after `post`. */
  leave: () => void;
};

/** For those who need not wait. */
export const open: Permit = { post: (work) => work(), leave: () => undefined };

export type ConcurrencyLimiter = {
  /**
   * Null: the delivery is sent away. `share`: the part of a job that it is; the whole job is held up while it waits.
   * `origin`: the name under which webhooks share their slots; left out, the webhook shares them with none.
   */
  enter: (webhookId: string, share?: number, origin?: string) => Promise<Permit | null>;
  /** Requests that are out, and deliveries that wait. */
  counts: () => { inFlight: number; waiting: number };
};

export type ConcurrencyLimits = {
  /** Requests that are out to one webhook, and to one origin. */
  perWebhook: number;
  /** Towards this many requests that are out to all webhooks, each gets fewer and fewer slots. */
  inFlight: number;
  /**
   * So many have a place without a slot, whichever webhooks they are of; beyond, places are given for free slots only.
   */
  ahead: number;
  /**
   * So many jobs may wait for slow webhooks; those of one origin may take half of that, two a third each, and so on.
   */
  waiting: number;
  longestWaitMs: number;
  /** Nobody waits for a webhook that has answered nothing for so long. */
  patienceMs: number;
  /**
   * This process is the bottleneck, so all webhooks seem slow. Sending deliveries away would then serve no other webhook
   * sooner.
   */
  isSaturated: boolean;
};

/** Never fewer than this, however many webhooks there are. */
const fewestSlots = 2;
/** A webhook gets at most this part of the slots that are free. */
const partOfFree = 8;
/** Places are given for requests that can begin within this time. */
const aheadMs = 500;
const mostAhead = 200;
/** Where the wait is no longer than this, the queue may be as long as it likes; others share the places to wait. */
const shortWaitMs = 1_000;

export function createConcurrencyLimiter(limits: () => ConcurrencyLimits): ConcurrencyLimiter {
  const origins = new Map<string, Origin>();
  const queues = new Map<string, WebhookQueue>();
  let inFlight = 0;
  let waiting = 0;
  /** The same in jobs. */
  let jobsWaiting = 0;
  let placed = 0;

  /** The slots of an origin. */
  function slots(): number {
    const free = Math.floor((limits().inFlight - inFlight) / partOfFree);
    return Math.min(limits().perWebhook, Math.max(fewestSlots, free));
  }

  /** The time that a request takes: as long as the last ones, and at least as long as the oldest one is out. */
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
    // Without a place it could not wait for the slots that are its own.
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

  /** Resolves with what `start` returns, which runs at the moment of the turn; null when that does not come in time. */
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
      // Not the sum of parts that were never quite a whole.
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
    // A turn of the event loop late: when this process itself stood still, what has arrived meanwhile still counts.
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

  /** Something has become free: first for the webhook that has had nothing for longest. */
  function advance({ queues: atOrigin }: Origin): void {
    // A webhook that gets a slot is last then, and has its next turn after all others.
    for (const queue of atOrigin) {
      for (const waiter of queue.forSlot) {
        if (queue.out.size >= slotsOf(queue, slots())) break;
        waiter.go();
      }
      const { free, ahead } = places(queue);
      // Several at a time, so that their claims share a statement; unless others would take them meanwhile.
      const least = isAlone(queue) ? ahead / 2 : 1;
      if (free > 0 && free >= Math.min(queue.forPlace.size, least))
        for (const waiter of [...queue.forPlace].slice(0, free)) waiter.go();
      close(queue);
    }
  }

  /** Forgets it when nobody is in it any more. */
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
      // To the end: the others come first now.
      if (!isAlone(queue)) origin.queues.delete(queue);
      origin.queues.add(queue);
      return request;
    };
    const end = (request: OpenRequest) => {
      const time = performance.now();
      for (const ended of [queue, origin]) {
        ended.answeredAt = time;
        ended.usualMs = usualAfter(ended.usualMs, time - request.at);
      }
      queue.out.delete(request);
      origin.out -= 1;
      inFlight -= 1;
      for (const other of origin.queues) if (other === queue || other.out.size === 0) other.isStuck = false;
      advance(origin);
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
        return work().finally(() => end(request));
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
