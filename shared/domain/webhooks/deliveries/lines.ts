/**
 * The requests that are out to a webhook, the ones that wait for it, and what all webhooks of an origin have in common.
 */

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
  paceMs: number | null;
  /** When the last one ended. */
  answeredAt: number;
  /** Requests have been out for long, its own or those that it waits for, and none has ended lately. */
  isStuck: boolean;
  forPlace: Set<Waiter>;
  forSlot: Set<Waiter>;
  /** Looks after those who wait. */
  timer: NodeJS.Timeout | undefined;
};

/** Where webhooks of one workspace lead to: their requests share its slots. */
export type Origin = {
  name: string;
  /** Of those who have anything in hand; first the one whose last request began longest ago. */
  lines: Set<WebhookQueue>;
  placed: number;
  out: number;
  paceMs: number | null;
  answeredAt: number;
  /** For a place, in all lines; and the same in jobs. */
  waiting: number;
  jobsWaiting: number;
};

export function newOrigin(name: string): Origin {
  return {
    name,
    lines: new Set(),
    placed: 0,
    out: 0,
    paceMs: null,
    answeredAt: Number.NEGATIVE_INFINITY,
    waiting: 0,
    jobsWaiting: 0,
  };
}

export function newLine(webhookId: string, origin: Origin): WebhookQueue {
  const line: WebhookQueue = {
    webhookId,
    origin,
    placed: 0,
    out: new Set(),
    paceMs: null,
    answeredAt: Number.NEGATIVE_INFINITY,
    isStuck: false,
    forPlace: new Set(),
    forSlot: new Set(),
    timer: undefined,
  };
  origin.lines.add(line);
  return line;
}

/** Has an origin to itself. */
export function isAlone({ origin }: WebhookQueue): boolean {
  return origin.lines.size === 1;
}

/** Of the slots of an origin, those that each line has for sure. */
export function partOf({ origin }: WebhookQueue, slots: number): number {
  return Math.max(1, Math.floor(slots / origin.lines.size));
}

/** How many slots a line may have: all that others leave, but no more than its part while one waits that has less. */
export function slotsOf(line: WebhookQueue, slots: number): number {
  if (isAlone(line)) return slots;
  const { lines, out } = line.origin;
  const part = partOf(line, slots);
  const isShort = (other: WebhookQueue) => other !== line && other.out.size < part && other.forSlot.size > 0;
  const most = [...lines].some(isShort) ? part : slots;
  return Math.max(0, Math.min(most, slots - (out - line.out.size)));
}

/** The request that a line waits for: the oldest of its own, or where it has none, of the others at its origin. */
function longestOut(line: WebhookQueue): { at: number; answeredAt: number } | null {
  const isOwn = line.out.size > 0;
  const oldest = (isOwn ? [line] : [...line.origin.lines]).flatMap(({ out }) => {
    const [first] = out;
    return first ? [first.at] : [];
  });
  if (oldest.length === 0) return null;
  return { at: Math.min(...oldest), answeredAt: (isOwn ? line : line.origin).answeredAt };
}

/** Whether nothing has been answered for so long that it is of no use to wait. */
export function isStuck(line: WebhookQueue, time: number, patienceMs: number): boolean {
  const longest = longestOut(line);
  return longest !== null && time - Math.max(longest.at, longest.answeredAt) >= patienceMs;
}

/** The time of a request, as it was of late. */
export function paceAfter(paceMs: number | null, tookMs: number): number {
  return paceMs === null ? tookMs : 0.8 * paceMs + 0.2 * tookMs;
}
