/**
 * Buckets whose bounds grow by a constant ratio (as in DDSketch), so that whatever is read from a histogram of them is
 * wrong by 3.9 % at most, from a millisecond to a year.
 */
const ratio = 1.08;
const logRatio = Math.log(ratio);
const middle = 2 / (ratio + 1);

/** The bucket of a time in milliseconds. The first one holds all that is no longer than nothing. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.ceil(Math.log(ms) / logRatio);
}

/** The time that stands for all in a bucket. */
function bucketMs(bucket: number): number {
  return bucket === 0 ? 0 : ratio ** (bucket - 1) * middle;
}

export type Histogram = { bucket: number; count: number }[];

/** The times that these parts of all messages took at most, in milliseconds; null where there is no message. */
export function quantilesOf(histogram: Histogram, parts: readonly number[]): (number | null)[] {
  const rising = histogram.filter(({ count }) => count > 0).toSorted((a, b) => a.bucket - b.bucket);
  const total = rising.reduce((sum, { count }) => sum + count, 0);
  return parts.map((part) => {
    const rank = Math.max(1, Math.ceil(part * total));
    let passed = 0;
    const found = rising.find(({ count }) => (passed += count) >= rank);
    return found ? bucketMs(found.bucket) : null;
  });
}
