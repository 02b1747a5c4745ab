/**
 * Whose emails are in hand in a lane of this process. One workspace has a share of the slots, so that its emails, however
 * large or slow, leave some to others; what it has beyond that waits a moment in hand, and then in Redis.
 */

export type Gate = {
  /** False for who did not get a slot in time. */
  enter: (workspaceId: string) => Promise<boolean>;
  leave: (workspaceId: string) => void;
};

type Waiter = { workspaceId: string; start: () => void };

const sharePart = 0.75;

/** `slots` may change from one moment to the next. */
export function createGate(limits: () => { slots: number; longestWaitMs: number }): Gate {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let busy = 0;

  function mayStart(workspaceId: string): boolean {
    const { slots } = limits();
    return busy < slots && (held.get(workspaceId) ?? 0) < Math.max(1, Math.ceil(slots * sharePart));
  }

  function start(workspaceId: string): void {
    busy += 1;
    held.set(workspaceId, (held.get(workspaceId) ?? 0) + 1);
  }

  function wait(workspaceId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isStarted: boolean) => {
        clearTimeout(timer);
        waiting.delete(waiter);
        resolve(isStarted);
      };
      const waiter: Waiter = {
        workspaceId,
        start: () => {
          start(workspaceId);
          end(true);
        },
      };
      const timer = setTimeout(() => end(false), limits().longestWaitMs);
      waiting.add(waiter);
    });
  }

  return {
    enter: async (workspaceId) => {
      if (!mayStart(workspaceId)) return wait(workspaceId);
      start(workspaceId);
      return true;
    },
    leave: (workspaceId) => {
      busy -= 1;
      const left = (held.get(workspaceId) ?? 1) - 1;
      if (left > 0) held.set(workspaceId, left);
      else held.delete(workspaceId);
      for (const waiter of waiting) if (mayStart(waiter.workspaceId)) waiter.start();
    },
  };
}
