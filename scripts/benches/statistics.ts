export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}

/** Pairs stand side by side in time, so what slows the machine down for a while slows both of a pair. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
}

/** Beyond this, another run on the same machine would tell another story. */
export const widestSpread = 1.6;

export const isNoisy = ({ min, max }: Spread): boolean => !(max / min <= widestSpread);

export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
