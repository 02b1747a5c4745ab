/** The pace is that of about the last five seconds. */
const fadeMs = 5_000;

/**
 * Measures how many things happen in a second. The measure begins with `expected`, and so again when nobody has used
 * it for a while: what happened before then says little.
 */
export function createPace(expected: number) {
  const begin = (expected * fadeMs) / 1000;
  /** How many things happened; each counts the less the longer ago it was. */
  let recent = begin;
  let at = performance.now();

  function fade(): void {
    const time = performance.now();
    recent = time - at > fadeMs ? begin : recent * Math.exp((at - time) / fadeMs);
    at = time;
  }

  return {
    note: (): void => {
      fade();
      recent += 1;
    },
    perSecond: (): number => {
      fade();
      return (recent * 1000) / fadeMs;
    },
  };
}
