/** Gives a permit back; more than once does no harm. */
export type Release = () => void;

type Holders = { held: number; waiting: (() => void)[] };

type Limits = {
  /** How many permits one key may have, while all other keys together hold `others`. */
  permits: (others: number) => number;
  /** How many permits all keys together may have; no limit if left out. */
  inAll?: () => number;
  /** How long a caller waits for a permit. */
  waitMs: number;
  /** How many callers of one key may wait. */
  mostWaiting?: number;
};

export type Semaphore = ReturnType<typeof semaphore>;

/**
 * Limits concurrency by key, in this process. A caller that finds all permits taken waits for a while. Keys take
 * turns, so a caller has at most as many others before it as there are keys, however many callers of another key wait.
 */
export function semaphore({ permits, inAll, waitMs, mostWaiting = Number.POSITIVE_INFINITY }: Limits) {
  const keys = new Map<string, Holders>();
  /** The keys that have callers waiting, in the order of their turns. */
  const ring = new Set<Holders>();
  let held = 0;

  const isFull = () => inAll !== undefined && held >= inAll();
  const hasRoom = (holders: Holders) => holders.held < permits(held - holders.held);

  /** Takes a permit; null if none came free in time, or if too many callers wait already. */
  async function acquire(key: string): Promise<Release | null> {
    const holders = keys.get(key) ?? { held: 0, waiting: [] };
    keys.set(key, holders);
    if (!isFull() && hasRoom(holders)) take(holders);
    else if (holders.waiting.length >= mostWaiting || !(await turn(holders))) {
      forgetIdle(key, holders);
      return null;
    }
    let isHeld = true;
    return () => {
      if (isHeld) release(key, holders);
      isHeld = false;
    };
  }

  /** Does the work with a permit, or throws what `refusal` makes. */
  async function run<T>(key: string, refusal: () => Error, work: () => Promise<T>): Promise<T> {
    const release = await acquire(key);
    if (!release) throw refusal();
    try {
      return await work();
    } finally {
      release();
    }
  }

  function take(holders: Holders): void {
    held += 1;
    holders.held += 1;
  }

  function turn(holders: Holders): Promise<boolean> {
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer);
        take(holders);
        resolve(true);
      };
      const timer = setTimeout(() => {
        holders.waiting.splice(holders.waiting.indexOf(start), 1);
        if (holders.waiting.length === 0) ring.delete(holders);
        resolve(false);
      }, waitMs);
      holders.waiting.push(start);
      ring.add(holders);
    });
  }

  function release(key: string, holders: Holders): void {
    held -= 1;
    holders.held -= 1;
    moveToEnd(holders);
    startWaiting();
    forgetIdle(key, holders);
  }

  /** Moves a key behind the others, so that waiting callers of other keys go first. */
  function moveToEnd(holders: Holders): void {
    ring.delete(holders);
    if (holders.waiting.length > 0) ring.add(holders);
  }

  function startWaiting(): void {
    while (!isFull()) {
      const next = nextInRing();
      if (!next) return;
      next.waiting.shift()!();
      moveToEnd(next);
    }
  }

  function nextInRing(): Holders | undefined {
    for (const holders of ring) if (hasRoom(holders)) return holders;
    return undefined;
  }

  function forgetIdle(key: string, holders: Holders): void {
    if (holders.held === 0 && holders.waiting.length === 0) keys.delete(key);
  }

  return { acquire, run };
}
