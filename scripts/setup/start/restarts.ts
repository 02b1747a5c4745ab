const most = 5;
const withinMs = 60_000;

/**
 * Counts restarts. Returns words for the log ("2 of 5 within a minute"), or undefined after too many restarts. A
 * program that was killed comes back; one that cannot run does not restart for ever.
 */
export function countRestarts(): () => string | undefined {
  let times: number[] = [];
  return () => {
    const now = performance.now();
    times = [...times.filter((time) => now - time < withinMs), now];
    return times.length > most ? undefined : `${times.length} of ${most} within a minute`;
  };
}
