import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

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
    // What one file, or a process that it starts, has compiled, the others do not compile again.
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, '.local/compile-cache') },
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
    sequence: { shuffle: { tests: true, files: false }, sequencer: LongestFirst },
    // A test's name is a guarantee: it is shown whole.
    taskTitleValueFormatTruncate: 0,
    silent: 'passed-only',
  },
});
