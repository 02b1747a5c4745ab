import { expect, test } from 'vitest';
import { inTurns } from './longest-first.ts';
import { type Project, projectOf, startsProcesses, testFiles } from './projects.ts';

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
  const files = testFiles();
  const all = Object.values(files).flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all).toContain('test/support/runner/projects.test.ts');
  expect(files.apart.length).toBeLessThan(10);
});

test('files that wait for processes are spread among those that compute', () => {
  expect(startsProcesses('test/faults/workers/killed.test.ts')).toBe(true);
  expect(startsProcesses('test/api/webhooks/create.test.ts')).toBe(false);
  expect(inTurns(['w1', 'w2'], ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']).join(' ')).toBe(
    'w1 c1 c2 c3 w2 c4 c5 c6',
  );
  expect(inTurns(['w1'], [])).toEqual(['w1']);
});
