/** The result of one test file. `notRun`: the tests that skipped themselves, each with its reason. */
export type FileResult = {
  name: string;
  isFailed: boolean;
  passed: number;
  failed: number;
  notRun: { name: string; reason: string }[];
  seconds: number;
};

/**
 * Counts the tests. A file that failed without a failed test, such as one that could not be loaded, counts as one
 * failure.
 */
export function count(results: readonly FileResult[]): { passed: number; failed: number } {
  let [passed, failed] = [0, 0];
  for (const result of results) {
    passed += result.passed;
    failed += result.isFailed ? Math.max(1, result.failed) : result.failed;
  }
  return { passed, failed };
}

/** The tests that could not run here, as lines. */
export function notRun(results: readonly FileResult[]): string[] {
  return results.flatMap(({ name: file, notRun }) =>
    notRun.map(({ name, reason }) => `Did not run: ${file}: ${name}: ${reason}`),
  );
}

/** The files that took longest, as lines. */
export function slowest(results: readonly FileResult[], many: number): string[] {
  return results
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, many)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
}
