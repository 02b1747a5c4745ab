import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkout, given, localDir } from '../environment.ts';
import { memoryDisk } from '../servers/memory-disk.ts';
import { startServices } from '../servers/services.ts';
import { paint } from '../start/log-lines.ts';
import * as processes from '../start/processes.ts';
import * as session from '../start/session.ts';
import { chosenByChange } from './changed.ts';
import { isQuick, quickVariable } from './quick.ts';
import * as reports from './report.ts';

const checks = [
  {
    name: 'format',
    command: 'biome',
    args: ['ci', '.', `--colors=${process.stdout.isTTY ? 'force' : 'off'}`],
  },
  { name: 'lint', command: 'oxlint', args: ['--type-aware'] },
  // Its results stay in .local, so that the next run looks only at what has changed.
  {
    name: 'types',
    command: 'tsc',
    args: [
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      path.join(localDir, 'types.tsbuildinfo'),
      // Each checker computes the types that it needs for itself, so four take twice the processor time of one.
      '--checkers',
      '1',
    ],
  },
];
// The type checker, and the part of lint that knows types, are written in Go and live for seconds. On one core and with
// no garbage collected they take a third less processor time, and hardly more memory. Past this much memory they collect
// as usual.
const ofChecks = { GOGC: 'off', GOMEMLIMIT: '3GiB', GOMAXPROCS: '1' };
const shownSlowest = 10;

// Some of these programs use colours even in a file.
const environment = { ...processes.withOwnNode(given), ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }) };

const stages: { name: string; seconds: number }[] = [];

/** Notes how long a stage took, for the summary. */
async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    stages.push({ name, seconds: (performance.now() - startedAt) / 1000 });
  }
}

async function test(): Promise<number> {
  const given = process.argv.slice(2);
  const [profile, ...options] = given;
  if (profile === 'faults' || profile === 'soak' || profile === 'cluster')
    return longRun('test/faults/storm/main.ts', ['--profile', profile, ...options]);
  if (profile === 'fuzz') return longRun('test/fuzz/main.ts', options);
  if (profile === 'image') return longRun('test/image/main.ts', options);
  const chosen = await chosenByChange(given, checkout);
  if (chosen?.length === 0) {
    session.log('No test belongs to what has changed');
    return 0;
  }
  const hasChecks = given.length === 0;
  const leavesSlowOut = isQuick(given, environment);

  const folder = await session.holdFree(path.join(localDir, 'test'));
  const dataDir = memoryDisk(folder) ?? folder;
  const servers = timed('servers', () =>
    startServices({ localDir: folder, dataDir, log: session.log, fresh: true, isVolatile: true }),
  );
  servers.catch(() => undefined);
  const checking = hasChecks ? checkAll() : Promise.resolve([]);
  checking.catch(() => undefined);

  const { mysqlUrl, redisUrl } = await servers;
  const env = {
    ...environment,
    MYSQL_URL: mysqlUrl,
    REDIS_URL: redisUrl,
    [quickVariable]: leavesSlowOut ? '1' : undefined,
  };
  const tests = await timed('tests', () => vitest(chosen ?? given, env));
  const checked = await checking;
  // Printed after the tests, because their reporter draws on the terminal until then.
  for (const { said } of checked) session.log(said);
  const failed = checked.filter(({ code }) => code !== 0).map(({ name }) => name);
  if (tests.code !== 0) failed.push('tests');

  session.log(`\nSlowest files:\n${tests.slowest.join('\n')}`);
  session.log(`Stages: ${stages.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`).join(', ')}`);
  if (failed.length > 0) session.log(paint('red', `Failed: ${failed.join(', ')}`));
  if (leavesSlowOut) session.log('The slow files did not run: scripts/test --all runs them too');
  for (const line of tests.notRun) session.log(paint('yellow', line));
  session.log(
    `${tests.passed} passed, ${tests.failed} failed${tests.notRun.length > 0 ? `, ${tests.notRun.length} did not run` : ''}`,
  );
  return failed.length === 0 ? 0 : 1;
}

type Checked = { name: string; code: number | null; said: string };

/** Runs the checks one after the other, beside the first tests, many of which wait. */
async function checkAll(): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (const { name, command, args } of checks) {
    const program = path.join(checkout, 'node_modules/.bin', command);
    const { code, output } = await timed(name, () =>
      processes.outputOf(program, args, { cwd: checkout, env: { ...environment, ...ofChecks } }),
    );
    const failure = `${paint('red', '✗')} ${name}: ${command} ${args.join(' ')} failed`;
    const said = code === 0 ? `${paint('green', '✓')} ${name}` : `${output.trimEnd()}\n${failure}`;
    checked.push({ name, code, said });
  }
  return checked;
}

async function vitest(named: readonly string[], env: NodeJS.ProcessEnv) {
  const report = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tests-')), 'report.json');
  const reporters = ['--reporter=default', '--reporter=./scripts/setup/test/reporter.ts'];
  const args = ['run', '--config', 'vitest.config.ts', ...reporters, ...named];
  const program = path.join(checkout, 'node_modules/.bin/vitest');
  const child = processes.start('application', program, args, {
    cwd: checkout,
    env: { ...env, TEST_REPORT: report },
    stdio: 'inherit',
  });
  const { code, reason } = await processes.exitOf(child);
  // The run was interrupted, and its output is complete.
  if (processes.isEnding()) return new Promise<never>(() => undefined);
  await processes.endGroup(child);
  try {
    const results = JSON.parse(fs.readFileSync(report, 'utf8')) as reports.FileResult[];
    return {
      code,
      ...reports.count(results),
      notRun: reports.notRun(results),
      slowest: reports.slowest(results, shownSlowest),
    };
  } catch {
    session.log(`vitest ${reason} without a report`);
    return { code: code || 1, passed: 0, failed: 1, notRun: [], slowest: [] };
  } finally {
    fs.rmSync(path.dirname(report), { recursive: true, force: true });
  }
}

/** A run that has servers of its own. */
async function longRun(program: string, args: readonly string[]): Promise<number> {
  const child = processes.start('application', process.execPath, [path.join(checkout, program), ...args], {
    cwd: checkout,
    env: environment,
    stdio: 'inherit',
  });
  const { code } = await processes.exitOf(child);
  await processes.endGroup(child);
  return code ?? 1;
}

if (import.meta.main) await session.run(test);
