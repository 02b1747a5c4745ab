/**
 * Buckets whose bounds grow by a constant ratio (as in DDSketch), so that a time read from a histogram is wrong by
 * 3.9 % at most, from a millisecond to a year.
 */
const ratio = 1.08;
const logRatio = Math.log(ratio);
const middle = 2 / (ratio + 1);

/** Returns the bucket of a time in milliseconds. Bucket 0 holds all times below a millisecond. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.ceil(Math.log(ms) / logRatio);
}

/** Returns the time, in milliseconds, that stands for all times in a bucket. */
function bucketMs(bucket: number): number {
  return bucket === 0 ? 0 : ratio ** (bucket - 1) * middle;
}

export type Histogram = { bucket: number; count: number }[];

/**
 * Returns, for each part (0.5 is the median), the longest time of that part of all messages, in milliseconds. Returns
 * null if there are no messages.
 */
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
