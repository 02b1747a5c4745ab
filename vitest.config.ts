import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/runner/longest-first.ts';
import { type Project, testFiles } from './test/support/runner/projects.ts';

const files = testFiles();

// With more processes than cores, helper threads of the garbage collector only cost time. Without them the tests take a
// ninth less CPU time.
const alone = ['--single-threaded-gc'];
// With more room for young objects (MB) V8 collects garbage less often, which saves a tenth of the CPU time. Threads
// get this room too, so it is not set where a test measures the memory of the sandbox's threads.
const execArgv = [...alone, '--min-semi-space-size=32', '--max-semi-space-size=32'];

// Node loads the product as it does in production; a bundler's loader would run other code than we ship. Only files apart
// replace modules: without the hook for that, which reads every module once more, tests take 6 % less CPU time.
const loader = { viteModuleRunner: false };
const ownLoader = { ...loader, nodeLoader: false };

/** test/support/runner/projects.ts decides which files run in which project, and says why. */
const project = (name: Project, settings: object) => ({
  extends: true as const,
  test: { name, include: files[name], env: { TEST_PROJECT: name }, ...settings },
});

export default defineConfig({
  test: {
    projects: [
      // Files run in processes, not in threads: a thread of Node that ends during a request never stops.
      project('pure', { isolate: false, execArgv: alone, experimental: ownLoader }),
      project('shared', { isolate: false, execArgv, experimental: ownLoader }),
      project('apart', { isolate: true, execArgv }),
    ],
    environment: 'node',
    pool: 'forks',
    // Many files mostly wait, so more of them run at once than there are cores.
    maxWorkers: 2 * availableParallelism(),
    experimental: loader,
    // All files and the processes that they start share one cache of compiled code.
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
    // Tests run in random order: a fixed order could hide that one test depends on another.
    sequence: { shuffle: { tests: true, files: false }, sequencer: LongestFirst },
    // A test's name is a guarantee: it is shown whole.
    taskTitleValueFormatTruncate: 0,
    silent: 'passed-only',
  },
});
