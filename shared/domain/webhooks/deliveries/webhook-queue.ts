/** The deliveries that are under way or wait in this process: of a webhook, and of all webhooks of an origin. */

export type Waiter = { since: number; go: () => void; giveUp: () => void };
export type OpenRequest = { at: number };

export type UnderWay = {
  /** Deliveries that have a place, and no request yet. */
  placed: number;
  /** Open requests, oldest first. */
  out: Set<OpenRequest>;
};

type AnswerTimes = {
  /** Moving average of the milliseconds of a request; null before the first has ended. */
  usualMs: number | null;
  /** When the last request ended. */
  answeredAt: number;
};

export type WebhookQueue = UnderWay &
  AnswerTimes & {
    webhookId: string;
    origin: Origin;
    /** The requests of this queue, or those that it waits for, have been open for long, and none has ended lately. */
    isStuck: boolean;
    forPlace: Set<Waiter>;
    forSlot: Set<Waiter>;
    /** Gives up deliveries that have waited for too long. */
    timer: NodeJS.Timeout | undefined;
  };

/** An origin that webhooks of one workspace lead to: their requests share its slots. */
export type Origin = UnderWay &
  AnswerTimes & {
    name: string;
    /** By webhook, those that hold any delivery; first the one whose last request began longest ago. */
    queues: Map<string, WebhookQueue>;
    /** Deliveries that wait for a place, in all queues; `jobsWaiting` is the number of jobs that they make up. */
    waiting: number;
    jobsWaiting: number;
  };

function idle(): UnderWay & AnswerTimes {
  return { placed: 0, out: new Set(), usualMs: null, answeredAt: Number.NEGATIVE_INFINITY };
}

export function newOrigin(name: string): Origin {
  return { ...idle(), name, queues: new Map(), waiting: 0, jobsWaiting: 0 };
}

export function newQueue(webhookId: string, origin: Origin): WebhookQueue {
  return {
    ...idle(),
    webhookId,
    origin,
    isStuck: false,
    forPlace: new Set(),
    forSlot: new Set(),
    timer: undefined,
  };
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
  const most = [...queues.values()].some(isShort) ? part : slots;
  return Math.max(0, Math.min(most, slots - (out.size - queue.out.size)));
}

/** Returns the expected time of a request: as the last ones took, and at least the age of the oldest open request. */
export function expectedMs({ usualMs, out }: WebhookQueue): number {
  const [oldest] = out;
  return Math.max(usualMs ?? 0, oldest ? performance.now() - oldest.at : 0);
}

/**
 * Returns whether no request was answered for so long that waiting is of no use. A queue waits for its own requests, or
 * if it has none, for those of its origin.
 */
export function isStuck(queue: WebhookQueue, patienceMs: number): boolean {
  const { out, answeredAt } = queue.out.size > 0 ? queue : queue.origin;
  const [oldest] = out;
  return oldest !== undefined && performance.now() - Math.max(oldest.at, answeredAt) >= patienceMs;
}

/** Notes that a request has been answered. */
export function noteAnswer(queue: WebhookQueue, request: OpenRequest): void {
  const time = performance.now();
  const tookMs = time - request.at;
  for (const answered of [queue, queue.origin]) {
    answered.answeredAt = time;
    answered.usualMs = answered.usualMs === null ? tookMs : 0.8 * answered.usualMs + 0.2 * tookMs;
  }
  for (const other of queue.origin.queues.values())
    if (other === queue || other.out.size === 0) other.isStuck = false;
}
