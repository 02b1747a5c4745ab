export interface Spread {
  median: number;
  min: number;
  max: number;
  /** Half of the values lie from here to there. */
  middle: [from: number, to: number];
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const last = sorted.length - 1;
  return {
    median: (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2,
    min: at(0),
    max: at(last),
    middle: [at(Math.floor(last / 4)), at(Math.ceil((3 * last) / 4))],
  };
}

/** Divides the values pair by pair. The runs of a pair follow each other, so a slow phase of the machine slows both. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
}

/** A range in which the median of endless measurements lies, and how sure this is. */
export interface Interval {
  from: number;
  to: number;
  confidence: number;
}

/** The least confidence of an interval that counts. */
export const leastConfidence = 0.95;

/**
 * Returns the confidence interval of the median by order statistics, which assumes only that the values are
 * independent. It is the narrowest interval that leaves out as many values at both ends and is 95 % sure. Fewer than
 * six values are never so sure; the interval then holds all of them.
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  let leftOut = 0;
  // `likelihood`: that exactly `leftOut` values lie below the median; `tail`: at most that many (binomial
  // distribution).
  let likelihood = 0.5 ** count;
  let tail = likelihood;
  for (;;) {
    likelihood *= (count - leftOut) / (leftOut + 1);
    if (!(1 - 2 * (tail + likelihood) >= leastConfidence)) break;
    tail += likelihood;
    leftOut += 1;
  }
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { from: at(leftOut), to: at(count - 1 - leftOut), confidence: 1 - 2 * tail };
}

/** Beyond this, another run on the same machine would give another result. One disturbed pair is no sign of that. */
export const widestMiddle = 1.25;

export const isNoisy = ({ middle: [from, to] }: Spread): boolean => !(to / from <= widestMiddle);

export interface Latency {
  p50Ms: number;
  p99Ms: number;
}

export function latencyOf(latencies: readonly number[]): Latency {
  const sorted = Float64Array.from(latencies).toSorted();
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
}

export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
