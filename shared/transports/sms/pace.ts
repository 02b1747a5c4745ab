/** The pace is that of about the last five seconds. */
const fadeMs = 5_000;

/**
 * Measures how many things happen in a second. The measure begins with `expected`, and so again when nobody has used
 * it for a while, because what happened before then says little, and with the first thing after a `stop`.
 */
export function createPace(expected: number) {
  const begin = (expected * fadeMs) / 1000;
  /** How many things happened; each counts the less the longer ago it was. */
  let recent = begin;
  let at = performance.now();
  let isStopped = false;

  function fade(): void {
    const time = performance.now();
    recent = time - at > fadeMs ? begin : recent * Math.exp((at - time) / fadeMs);
    at = time;
  }

  return {
    note: (): void => {
      fade();
      if (isStopped) recent = begin;
      isStopped = false;
      recent += 1;
    },
    /** Nothing happens any more: the measure is 0 until something does. */
    stop: (): void => {
      isStopped = true;
    },
    perSecond: (): number => {
      fade();
      return isStopped ? 0 : (recent * 1000) / fadeMs;
    },
  };
}
