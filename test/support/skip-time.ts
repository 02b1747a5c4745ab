import { onTestFinished, vi } from 'vitest';

/**
 * Until the test has finished, what this returns has the timers of this process find that so much more time has passed;
 * by themselves they run as ever. So a test waits for what must come before a deadline, which may be far off for a busy
 * machine, and not for the deadline. Only for what keeps no other timer in this process: a database's would pass as well.
 */
export function skippableTimers(): (milliseconds: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
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
