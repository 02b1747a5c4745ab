import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
  }
}

/**
 * Runs the planted files, which fail, in one process. test/support/runner/left-behind.test.ts checks how each fails.
 */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../../../..`,
    include: ['test/support/runner/planted/*.planted.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    env: { TEST_PROJECT: 'pure', TEST_CLOSING_MS: '300' },
    experimental: { viteModuleRunner: false },
    setupFiles: ['test/support/runner/setup.ts'],
    globalSetup: ['test/support/runner/global-setup.ts'],
    hookTimeout: 60_000,
    sequence: { sequencer: ByName },
  },
});
