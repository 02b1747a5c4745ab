import { readFileSync, readlinkSync } from 'node:fs';

/** The id that the system has given to this thread; 0 where it does not say, as on macOS. */
export function systemThreadId(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * CPU time in milliseconds that a thread of this process has used, even while the thread is in a call that cannot be
 * interrupted. Undefined if the system does not count it, or if the thread has ended.
 */
export function threadCpuMs(systemId: number): number | undefined {
  if (systemId === 0) return undefined;
  try {
    return Number(readFileSync(`/proc/self/task/${systemId}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}
