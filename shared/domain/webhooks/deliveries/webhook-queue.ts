/** The deliveries of a webhook that are under way or wait in this process, and those of all webhooks of an origin. */

export type Waiter = { since: number; share: number; go: () => void; giveUp: () => void };
export type OpenRequest = { at: number };

export type WebhookQueue = {
  webhookId: string;
  origin: Origin;
  /** Have a place, and no request yet. */
  placed: number;
  /** Requests that are out, oldest first. */
  out: Set<OpenRequest>;
  /** Milliseconds of a request, of late; null before the first has ended. */
  usualMs: number | null;
  /** When the last one ended. */
  answeredAt: number;
  /** Requests have been out for long, its own or those that it waits for, and none has ended lately. */
  isStuck: boolean;
  forPlace: Set<Waiter>;
  forSlot: Set<Waiter>;
  /** Ends the waiting of those that have waited for too long. */
  timer: NodeJS.Timeout | undefined;
};

/** Where webhooks of one workspace lead to: their requests share its slots. */
export type Origin = {
  name: string;
  /** Of those who have anything in hand; first the one whose last request began longest ago. */
  queues: Set<WebhookQueue>;
  placed: number;
  out: number;
  usualMs: number | null;
  answeredAt: number;
  /** For a place, in all queues; and the same in jobs. */
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

/** Has an origin to itself. */
export function isAlone({ origin }: WebhookQueue): boolean {
  return origin.queues.size === 1;
}

/** Of the slots of an origin, those that each queue has for sure. */
export function partOf({ origin }: WebhookQueue, slots: number): number {
  return Math.max(1, Math.floor(slots / origin.queues.size));
}

/** How many slots a queue may have: all that others leave, but no more than its part while one waits that has less. */
export function slotsOf(queue: WebhookQueue, slots: number): number {
  if (isAlone(queue)) return slots;
  const { queues, out } = queue.origin;
  const part = partOf(queue, slots);
  const isShort = (other: WebhookQueue) => other !== queue && other.out.size < part && other.forSlot.size > 0;
  const most = [...queues].some(isShort) ? part : slots;
  return Math.max(0, Math.min(most, slots - (out - queue.out.size)));
}

/** The request that a queue waits for: the oldest of its own, or where it has none, of the others at its origin. */
function longestOut(queue: WebhookQueue): { at: number; answeredAt: number } | null {
  const isOwn = queue.out.size > 0;
  const oldest = (isOwn ? [queue] : [...queue.origin.queues]).flatMap(({ out }) => {
    const [first] = out;
    return first ? [first.at] : [];
  });
  if (oldest.length === 0) return null;
  return { at: Math.min(...oldest), answeredAt: (isOwn ? queue : queue.origin).answeredAt };
}

/** Whether nothing has been answered for so long that it is of no use to wait. */
export function isStuck(queue: WebhookQueue, time: number, patienceMs: number): boolean {
  const longest = longestOut(queue);
  return longest !== null && time - Math.max(longest.at, longest.answeredAt) >= patienceMs;
}

/** The time of a request, as it was of late. */
export function usualAfter(usualMs: number | null, tookMs: number): number {
  return usualMs === null ? tookMs : 0.8 * usualMs + 0.2 * tookMs;
}
