/** The name of the variable that makes the runner leave slow files out (test/support/runner/projects.ts). */
export const quickVariable = 'TEST_QUICK';

/**
 * Returns whether a run leaves slow files out. A run of named files, of changes or of one test runs all that it asks
 * for. A seed alone only decides the order. `env` has the options `--all` and `--long` as TEST_ALL and TEST_LONG.
 */
export function isQuick(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const isOfSeed = (arg: string, index: number) =>
    arg.startsWith('--sequence.seed') || args[index - 1] === '--sequence.seed';
  return !env['TEST_ALL'] && !env['TEST_LONG'] && args.every(isOfSeed);
}
