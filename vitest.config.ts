import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // A process per file: a file's settings, pools and shifted clock end with it.
    pool: 'forks',
    isolate: true,
    maxWorkers: availableParallelism(),
    // Node loads the product as it does in production; a bundler's loader would run other code than we ship.
    experimental: { viteModuleRunner: false },
    setupFiles: ['test/support/setup.ts'],
    globals: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    retry: 0,
    allowOnly: false,
    passWithNoTests: false,
    dangerouslyIgnoreUnhandledErrors: false,
    // Each test stands alone: an order that helped would hide that it does not.
    sequence: { shuffle: { tests: true, files: false } },
    // A test's name is a guarantee: it is shown whole.
    taskTitleValueFormatTruncate: 0,
    silent: 'passed-only',
  },
});
