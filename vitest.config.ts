import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/runner/longest-first.ts';
import { type Project, testFiles } from './test/support/runner/projects.ts';

const files = testFiles();

// Helper threads of the garbage collector only get in the way where more processes run than there are cores: a ninth less
// CPU time without them.
const alone = ['--single-threaded-gc'];
// With more room for young objects (MB) V8 collects garbage less often: a tenth less CPU time. It is room for those of
// threads too, so not where the memory of the sandbox's threads is measured.
const execArgv = [...alone, '--min-semi-space-size=32', '--max-semi-space-size=32'];

/** Which files run where, and why, stands in test/support/runner/projects.ts. */
const project = (name: Project, settings: object) => ({
  extends: true as const,
  test: { name, include: files[name], env: { TEST_PROJECT: name }, ...settings },
});

export default defineConfig({
  test: {
    projects: [
      // In processes, not threads: a thread of Node that ends with a request in hand turns in a circle for ever.
      project('pure', { isolate: false, execArgv: alone }),
      project('shared', { isolate: false, execArgv }),
      project('apart', { isolate: true, execArgv }),
    ],
    environment: 'node',
    pool: 'forks',
    // Many files mostly wait, so more of them run at once than there are cores.
    maxWorkers: 2 * availableParallelism(),
    // Node loads the product as it does in production; a bundler's loader would run other code than we ship.
    experimental: { viteModuleRunner: false },
    // What one file, or a process that it starts, has compiled, the others do not compile again.
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, '.local/compile-cache') },
    globalSetup: ['test/support/runner/global-setup.ts'],
    setupFiles: ['test/support/runner/setup.ts'],
    globals: false,
    // Generous, since a limit only matters when a test hangs, and a busy machine is slow.
    testTimeout: 240_000,
    hookTimeout: 240_000,
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
