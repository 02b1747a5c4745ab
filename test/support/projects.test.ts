import { expect, test } from 'vitest';
import { type Project, projectOf, testFiles } from './projects.ts';

test.each<[Project, string]>([
  ['pure', 'test/formats/gsm-7.test.ts'],
  ['shared', 'test/api/webhooks/create.test.ts'],
  ['processes', 'test/faults/worker-killed.test.ts'],
  // Through a module of its own that imports the support.
  ['processes', 'test/faults/hostile-clients.test.ts'],
  ['apart', 'test/workers/webhook-health/processes.test.ts'],
])('a file runs where what it imports belongs: %s, such as %s', (project, file) => {
  expect(projectOf(file)).toBe(project);
});

test('every file runs in one project, and most share their process', () => {
  const files = testFiles();
  const all = Object.values(files).flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all).toContain('test/support/projects.test.ts');
  expect(files.apart.length).toBeLessThan(10);
});
