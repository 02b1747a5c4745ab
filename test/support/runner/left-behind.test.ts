// @slow: it runs the test runner on planted files.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { notRun } from '../../../scripts/setup/test/report.ts';
import { startProcess } from '../processes/processes.ts';
import { atEnd } from './at-end.ts';

type Result = { name: string; status: string; message: string };
const results = new Map<string, Result>();
let notRunLines: string[];

beforeAll(async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'planted-'));
  atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
  const [report, ownReport] = [path.join(folder, 'report.json'), path.join(folder, 'own-report.json')];
  const args = ['run', '--config', 'test/support/runner/planted/vitest.config.ts'];
  const run = startProcess(
    'node_modules/vitest/vitest.mjs',
    [
      ...args,
      '--reporter=json',
      `--outputFile.json=${report}`,
      '--reporter=./scripts/setup/test/reporter.ts',
    ],
    // This is a run of its own, whose databases are dropped when it ends.
    { TEST_RUN: randomBytes(3).toString('hex'), TEST_REPORT: ownReport },
  );
  await run.exited;
  const { testResults } = JSON.parse(fs.readFileSync(report, 'utf8')) as { testResults: Result[] };
  notRunLines = notRun(JSON.parse(fs.readFileSync(ownReport, 'utf8')));
  for (const result of testResults) results.set(path.basename(result.name, '.planted.ts'), result);
});

test.each([
  ['setting', 'the setting SWEEP_SECONDS is changed'],
  ['variable', 'the environment variable PLANTED is changed'],
  ['timers', 'the timers are still fake'],
  ['global', 'the global fetch is another one'],
  ['listener', 'the process has a listener for SIGTERM more'],
  ['handle', '1 TCPServerWrap are open'],
  ['pure', 'connections are open'],
  ['table', 'the table planted is left'],
  ['column', 'the table emails is changed'],
  ['written', 'A file before this one still writes rows, into sms_prices'],
])('a planted file that is careless with what files share fails: %s', (name, message) => {
  expect(results.get(name)).toMatchObject({ status: 'failed', message: expect.stringContaining(message) });
});

test.each(['innocent', 'z-innocent'])('%s, between and after the careless ones, passes', (name) => {
  expect(results.get(name)).toMatchObject({ status: 'passed' });
});

test('a test that cannot run on this machine is named at the end of a run, with its reason', () => {
  expect(notRunLines).toEqual([
    expect.stringMatching(
      /^Did not run: .*\/innocent\.planted\.ts: a test that needs more: its program is not here$/,
    ),
  ]);
});

test('every planted file was run', () => {
  const planted = fs.readdirSync(path.join(import.meta.dirname, 'planted'));
  const names = planted.filter((name) => name.endsWith('.planted.ts'));
  expect([...results.keys()].toSorted()).toEqual(
    names.map((name) => name.replace('.planted.ts', '')).toSorted(),
  );
});
