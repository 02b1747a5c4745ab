/** Gives a permit back; more than once does no harm. */
export type Release = () => void;

type Holders = { taken: number; waiting: (() => void)[] };

/**
 * Permits by key, in this process: so many at a time for each. A caller that comes while all are taken waits, in turn,
 * for a while.
 */
export function semaphore({
  permits,
  waitMs,
  mostWaiting,
}: {
  permits: () => number;
  waitMs: number;
  mostWaiting: number;
}): { acquire: (key: string) => Promise<Release | null> } {
  const keys = new Map<string, Holders>();

  /** Null: none came free in time, or too many wait already. */
  async function acquire(key: string): Promise<Release | null> {
    const holders = keys.get(key) ?? { taken: 0, waiting: [] };
    keys.set(key, holders);
    if (holders.taken < permits()) holders.taken += 1;
    else if (holders.waiting.length >= mostWaiting || !(await turn(holders))) return null;
    let isHeld = true;
    return () => {
      if (isHeld) release(key, holders);
      isHeld = false;
    };
  }

  function turn(holders: Holders): Promise<boolean> {
    return new Promise((resolve) => {
      const take = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        holders.waiting.splice(holders.waiting.indexOf(take), 1);
        resolve(false);
      }, waitMs);
      holders.waiting.push(take);
    });
  }

  /** The permit goes to who has waited longest, or back. */
  function release(key: string, holders: Holders): void {
    const next = holders.waiting.shift();
    if (next) return next();
    holders.taken -= 1;
    if (holders.taken === 0) keys.delete(key);
  }

  return { acquire };
}
