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

/** Pairs stand side by side in time, so what slows the machine down for a while slows both of a pair. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
}

/** Beyond this, another run on the same machine would tell another story. One pair that was disturbed says nothing. */
export const widestMiddle = 1.25;

export const isNoisy = ({ middle: [from, to] }: Spread): boolean => !(to / from <= widestMiddle);

export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
