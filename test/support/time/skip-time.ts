import { onTestFinished, vi } from 'vitest';

/**
 * Returns a function that moves the timers of this process forward, until the test has finished; without a call they
 * run as usual. A test waits for the events before a deadline, and then skips to the deadline. So the deadline can be
 * far off, as a busy machine needs it. `clock`: performance.now() moves as well. Call it while nothing else in this
 * process, such as a statement to the database, is close to a deadline of its own.
 */
export function skippableTimers({ clock = false } = {}): (milliseconds: number) => void {
  const faked = ['setTimeout', 'clearTimeout', ...(clock ? (['performance'] as const) : [])] as const;
  vi.useFakeTimers({ toFake: [...faked], shouldAdvanceTime: true });
  onTestFinished(() => {
    // A timer that is dropped here could never close the connection that it must close.
    vi.runOnlyPendingTimers();
    vi.useRealTimers();
  });
  return (milliseconds) => void vi.advanceTimersByTime(milliseconds);
}

/** Tells whether the promise is still pending after all work that is ready in this process has been done. */
export async function isPending(result: Promise<unknown>): Promise<boolean> {
  const settled = result.then(
    () => false,
    () => false,
  );
  const { promise: turn, resolve } = Promise.withResolvers<boolean>();
  setImmediate(() => setImmediate(() => resolve(true)));
  return Promise.race([settled, turn]);
}
