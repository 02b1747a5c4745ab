/** The deliveries of a webhook that are under way or wait in this process, and those of all webhooks of an origin. */

export type Waiter = { since: number; share: number; go: () => void; giveUp: () => void };
export type OpenRequest = { at: number };

export type WebhookQueue = {
  webhookId: string;
  origin: Origin;
  /** Deliveries that have a place, and no request yet. */
  placed: number;
  /** Requests that are out, oldest first. */
  out: Set<OpenRequest>;
  /** Moving average of the milliseconds of a request; null before the first has ended. */
  usualMs: number | null;
  /** When the last request ended. */
  answeredAt: number;
  /** The requests of this queue, or those that it waits for, have been open for long, and none has ended lately. */
  isStuck: boolean;
  forPlace: Set<Waiter>;
  forSlot: Set<Waiter>;
  /** Gives up deliveries that have waited for too long. */
  timer: NodeJS.Timeout | undefined;
};

/** An origin that webhooks of one workspace lead to: their requests share its slots. */
export type Origin = {
  name: string;
  /** The queues that hold any delivery; first the one whose last request began longest ago. */
  queues: Set<WebhookQueue>;
  placed: number;
  out: number;
  usualMs: number | null;
  answeredAt: number;
  /** Deliveries that wait for a place, in all queues; `jobsWaiting` is the number of jobs that they make up. */
  waiting: number;
  jobsWaiting: number;
};

export function newOrigin(name: string): Origin {
  return {
    name,
    queues: new Set(),
    placed: 0,
    out: 0,
    usualMs: null,
    answeredAt: Number.NEGATIVE_INFINITY,
    waiting: 0,
    jobsWaiting: 0,
  };
}

export function newQueue(webhookId: string, origin: Origin): WebhookQueue {
  const queue: WebhookQueue = {
    webhookId,
    origin,
    placed: 0,
    out: new Set(),
    usualMs: null,
    answeredAt: Number.NEGATIVE_INFINITY,
    isStuck: false,
    forPlace: new Set(),
    forSlot: new Set(),
    timer: undefined,
  };
  origin.queues.add(queue);
  return queue;
}

/** Returns whether a queue has its origin to itself. */
export function isAlone({ origin }: WebhookQueue): boolean {
  return origin.queues.size === 1;
}

/** Returns how many slots of an origin each queue is sure to get. */
export function partOf({ origin }: WebhookQueue, slots: number): number {
  return Math.max(1, Math.floor(slots / origin.queues.size));
}

/** Returns how many slots a queue may have: all that are left, or its part only while a queue with less waits. */
export function slotsOf(queue: WebhookQueue, slots: number): number {
  if (isAlone(queue)) return slots;
  const { queues, out } = queue.origin;
  const part = partOf(queue, slots);
  const isShort = (other: WebhookQueue) => other !== queue && other.out.size < part && other.forSlot.size > 0;
  const most = [...queues].some(isShort) ? part : slots;
  return Math.max(0, Math.min(most, slots - (out - queue.out.size)));
}

/** Returns the request that a queue waits for: its own oldest, or if it has none, the oldest one of its origin. */
function longestOut(queue: WebhookQueue): { at: number; answeredAt: number } | null {
  const isOwn = queue.out.size > 0;
  const oldest = (isOwn ? [queue] : [...queue.origin.queues]).flatMap(({ out }) => {
    const [first] = out;
    return first ? [first.at] : [];
  });
  if (oldest.length === 0) return null;
  return { at: Math.min(...oldest), answeredAt: (isOwn ? queue : queue.origin).answeredAt };
}

/** Returns whether no request was answered for so long that waiting is of no use. */
export function isStuck(queue: WebhookQueue, time: number, patienceMs: number): boolean {
  const longest = longestOut(queue);
  return longest !== null && time - Math.max(longest.at, longest.answeredAt) >= patienceMs;
}

/** Returns the moving average of a request's time, with the last request added. */
export function usualAfter(usualMs: number | null, tookMs: number): number {
  return usualMs === null ? tookMs : 0.8 * usualMs + 0.2 * tookMs;
}
