import { onTestFinished, vi } from 'vitest';

/**
 * Until the test has finished, what this returns has the timers of this process find that so much more time has passed;
 * by themselves they run as ever. So a test waits for what must come before a deadline, which may be far off for a busy
 * machine, and not for the deadline. `clock`: performance.now() goes on as well. To be called while nothing else in this
 * process, such as a statement to the database, is close to a deadline of its own.
 */
export function skippableTimers({ clock = false } = {}): (milliseconds: number) => void {
  const faked = ['setTimeout', 'clearTimeout', ...(clock ? (['performance'] as const) : [])] as const;
  vi.useFakeTimers({ toFake: [...faked], shouldAdvanceTime: true });
  onTestFinished(() => {
    // A timer that was forgotten would never close the connection that it is there to close.
    vi.runOnlyPendingTimers();
    vi.useRealTimers();
  });
  return (milliseconds) => void vi.advanceTimersByTime(milliseconds);
}

/** Whether it is still open when all that is ready in this process has been done. */
export async function isPending(result: Promise<unknown>): Promise<boolean> {
  const settled = result.then(
    () => false,
    () => false,
  );
  const { promise: turn, resolve } = Promise.withResolvers<boolean>();
  setImmediate(() => setImmediate(() => resolve(true)));
  return Promise.race([settled, turn]);
}
