/**
 * Where no message has had its answer for so long, others do not wait for their turn: they would hold up those of other
 * carriers.
 */
const patienceMs = 2_000;

/** So many messages may be without their answer at a time; the others wait for a place. */
export function createWindow(size: number) {
  const waiting: { start: () => void; unsent: (detail: string) => void }[] = [];
  let inUse = 0;
  /** Since then nothing has been answered, though something should be. */
  let unansweredSince = performance.now();

  const isSlow = () => inUse > 0 && performance.now() - unansweredSince > patienceMs;

  function enter(): void {
    if (inUse === 0) unansweredSince = performance.now();
    inUse += 1;
  }

  /** Null once a place is taken; or why there is none before the time is over. */
  function take(longestWaitMs: number): Promise<string | null> {
    if (inUse < size) {
      enter();
      return Promise.resolve(null);
    }
    const end = performance.now() + longestWaitMs;
    let timer: NodeJS.Timeout | undefined;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const leave = (detail: string) => {
      clearTimeout(timer);
      const index = waiting.indexOf(own);
      if (index >= 0) waiting.splice(index, 1);
      resolve(detail);
    };
    const own = {
      start: () => {
        clearTimeout(timer);
        enter();
        resolve(null);
      },
      unsent: leave,
    };
    const check = () => {
      const leftMs = end - performance.now();
      if (leftMs > 0 && !isSlow()) timer = setTimeout(check, Math.min(leftMs, patienceMs));
      else leave(leftMs > 0 ? 'the carrier is slow to answer' : 'there was no room in the window');
    };
    waiting.push(own);
    check();
    return promise;
  }

  return {
    take,
    release: () => {
      inUse -= 1;
      waiting.shift()?.start();
    },
    /** A message has had its answer. */
    noteAnswer: () => {
      unansweredSince = performance.now();
    },
    /** Nobody who waits gets a place any more. */
    refuseAll: (detail: string) => {
      for (const { unsent } of waiting.splice(0)) unsent(detail);
    },
    inUse: () => inUse,
  };
}
