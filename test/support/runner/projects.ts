import fs from 'node:fs';
import path from 'node:path';
import { quickVariable } from '../../../scripts/setup/test/quick.ts';

/**
 * Which project of Vitest a test file runs in. A file says so by what it imports, so nobody keeps a list:
 *
 * - pure: no database, no processes. The files follow one another in a few processes.
 * - shared: a database, Redis, the API in this process, or processes of the platform. Files follow one another in a few
 *   processes; each finds an empty database (test/support/database/database.ts) and leaves the process as it was
 *   (test/support/runner/left-behind.ts).
 * - apart: needs a process of its own, because it sets values that a module reads on import, or replaces modules.
 *
 * A file that belongs apart for another reason says it in a line `// @apart: the reason`.
 *
 * A file that costs many seconds of processor time says why in a line `// @slow: the reason`. `scripts/test` leaves it
 * out, so that a developer has an answer within minutes. `scripts/test --all`, which guards the main branch, runs it.
 */
export const projects = ['pure', 'shared', 'apart'] as const;
export type Project = (typeof projects)[number];

const root = path.join(import.meta.dirname, '../../..');
const markOfApart = /\bvi\.(hoisted|mock|doMock|resetModules)\(|^\/\/ @apart: \S/m;
const markOfSlow = /^\/\/ @slow: \S/m;
const starters = ['test/support/processes/processes.ts', 'test/support/servers/own-servers.ts'];
const worlds = [
  'test/support/database/database.ts',
  'test/support/api/start-api.ts',
  'test/support/processes/run-workers.ts',
];

/** Every test file of this run, relative to the root, by its project. `isQuick`: without the slow files. */
export function testFiles(isQuick = process.env[quickVariable] !== undefined): Record<Project, string[]> {
  const files: Record<Project, string[]> = { pure: [], shared: [], apart: [] };
  const names = fs.readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' });
  for (const name of names.toSorted())
    if (name.endsWith('.test.ts')) {
      const file = path.posix.join('test', name);
      if (isQuick && isSlow(file)) continue;
      files[projectOf(file)].push(file);
    }
  return files;
}

export function isSlow(file: string): boolean {
  return markOfSlow.test(sourceOf(file));
}

export function projectOf(file: string): Project {
  if (markOfApart.test(sourceOf(file))) return 'apart';
  const imported = reachableFrom(file);
  return [...starters, ...worlds].some((world) => imported.has(world)) ? 'shared' : 'pure';
}

/** Tells whether a file starts processes or servers. Such a file breaks much, and waits most of the time. */
export function startsProcesses(file: string): boolean {
  const imported = reachableFrom(file);
  return starters.some((starter) => imported.has(starter));
}

/** Returns a file and all files that it imports, directly or not, by static imports of values in the repository. */
function reachableFrom(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const imported of importsOf(file)) reachableFrom(imported, found);
  return found;
}

const sources = new Map<string, string>();
const importsByFile = new Map<string, string[]>();
const importPattern = /^(?:import|export)\s(?!type\b)[^'"`;]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'/gm;

function sourceOf(file: string): string {
  const source = sources.get(file) ?? fs.readFileSync(path.join(root, file), 'utf8');
  sources.set(file, source);
  return source;
}

function importsOf(file: string): string[] {
  let imports = importsByFile.get(file);
  if (!imports) {
    imports = [...sourceOf(file).matchAll(importPattern)].map(([, from, bare]) =>
      path.posix.join(path.posix.dirname(file), (from ?? bare)!),
    );
    importsByFile.set(file, imports);
  }
  return imports.filter((imported) => imported.endsWith('.ts'));
}
