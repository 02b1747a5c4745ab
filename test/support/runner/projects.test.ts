import { expect, test } from 'vitest';
import { isQuick } from '../../../scripts/setup/test/quick.ts';
import { inTurns } from './longest-first.ts';
import { isSlow, type Project, projectOf, startsProcesses, testFiles } from './projects.ts';

test.each<[Project, string]>([
  ['pure', 'test/formats/sms/gsm-7.test.ts'],
  ['shared', 'test/api/webhooks/create.test.ts'],
  ['shared', 'test/faults/workers/killed.test.ts'],
  // This file imports the support only through a module of its own.
  ['shared', 'test/faults/hostile-clients.test.ts'],
  ['apart', 'test/workers/webhook-health/processes.test.ts'],
])('a file runs where what it imports belongs: %s, such as %s', (project, file) => {
  expect(projectOf(file)).toBe(project);
});

test('every file runs in one project, and most share their process', () => {
  const files = testFiles(false);
  const all = Object.values(files).flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all).toContain('test/support/runner/projects.test.ts');
  expect(files.apart.length).toBeLessThan(10);
});

test('a quick run leaves out the slow files and no other', () => {
  const of = (isQuick: boolean) => Object.values(testFiles(isQuick)).flat();
  const all = of(false);
  const slow = all.filter(isSlow);
  expect(slow).toContain('test/faults/storm.test.ts');
  expect(slow).not.toContain('test/api/webhooks/create.test.ts');
  expect(of(true).toSorted()).toEqual(all.filter((file) => !slow.includes(file)).toSorted());
});

test.each<[boolean, string[], NodeJS.ProcessEnv]>([
  [true, [], {}],
  [true, ['--sequence.seed', '7'], {}],
  [true, ['--sequence.seed=7'], {}],
  [false, [], { TEST_ALL: '1' }],
  [false, [], { TEST_LONG: '1' }],
  [false, ['storm'], {}],
  [false, ['--sequence.seed', '7', 'storm'], {}],
  [false, ['-t', 'is refused'], {}],
])('whether a run is quick is %s for the arguments %j and the environment %j', (expected, args, env) => {
  expect(isQuick(args, env)).toBe(expected);
});

test('files that wait for processes are spread among those that compute', () => {
  expect(startsProcesses('test/faults/workers/killed.test.ts')).toBe(true);
  expect(startsProcesses('test/api/webhooks/create.test.ts')).toBe(false);
  expect(inTurns(['w1', 'w2'], ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']).join(' ')).toBe(
    'w1 c1 c2 c3 w2 c4 c5 c6',
  );
  expect(inTurns(['w1'], [])).toEqual(['w1']);
});
