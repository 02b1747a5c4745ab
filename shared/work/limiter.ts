/**
 * A concurrency limiter that shares its slots between owners. One owner has a part of them, so that its work, however large
 * or slow, leaves some to others; what it has beyond that waits a moment in hand, and then in Redis.
 */

export type Limiter = {
  /** False for who did not get a slot in time. */
  enter: (ownerId: string) => Promise<boolean>;
  leave: (ownerId: string) => void;
};

type Waiter = { ownerId: string; start: () => void };

const partOfOne = 0.75;

/** `slots` may change from one moment to the next. */
export function createLimiter(limits: () => { slots: number; longestWaitMs: number }): Limiter {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let busy = 0;

  function mayStart(ownerId: string): boolean {
    const { slots } = limits();
    return busy < slots && (held.get(ownerId) ?? 0) < Math.max(1, Math.ceil(slots * partOfOne));
  }

  function start(ownerId: string): void {
    busy += 1;
    held.set(ownerId, (held.get(ownerId) ?? 0) + 1);
  }

  function wait(ownerId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isStarted: boolean) => {
        clearTimeout(timer);
        waiting.delete(waiter);
        resolve(isStarted);
      };
      const waiter: Waiter = {
        ownerId,
        start: () => {
          start(ownerId);
          end(true);
        },
      };
      const timer = setTimeout(() => end(false), limits().longestWaitMs);
      waiting.add(waiter);
    });
  }

  return {
    enter: async (ownerId) => {
      if (!mayStart(ownerId)) return wait(ownerId);
      start(ownerId);
      return true;
    },
    leave: (ownerId) => {
      busy -= 1;
      const left = (held.get(ownerId) ?? 1) - 1;
      if (left > 0) held.set(ownerId, left);
      else held.delete(ownerId);
      for (const waiter of waiting) if (mayStart(waiter.ownerId)) waiter.start();
    },
  };
}
