import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkout, given, localDir } from './environment.ts';
import { paint } from './log-lines.ts';
import * as processes from './processes.ts';
import { startServices } from './services.ts';
import * as session from './session.ts';

const checks = [
  {
    name: 'format',
    command: 'biome',
    args: ['ci', '.', `--colors=${process.stdout.isTTY ? 'force' : 'off'}`],
  },
  { name: 'lint', command: 'oxlint', args: ['--type-aware'] },
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
];

// Some of these programs paint even what goes into a file.
const environment = { ...processes.withOwnNode(given), ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }) };

async function test(): Promise<number> {
  const named = process.argv.slice(2);
  const [profile, ...options] = named;
  if (profile === 'faults' || profile === 'soak') return storm(profile, options);
  const failed: string[] = [];
  if (named.length === 0) for (const check of checks) if (!(await passes(check))) failed.push(check.name);

  const folder = await session.holdFree(path.join(localDir, 'test'));
  const { mysqlUrl, redisUrl } = await startServices({ localDir: folder, log: session.log, fresh: true });
  const env = { ...environment, MYSQL_URL: mysqlUrl, REDIS_URL: redisUrl };
  const tests = await vitest(named, env);
  if (tests.code !== 0) failed.push('tests');

  session.log('');
  if (failed.length > 0) session.log(paint('red', `Failed: ${failed.join(', ')}`));
  session.log(`${tests.passed} passed, ${tests.failed} failed`);
  return failed.length === 0 ? 0 : 1;
}

async function passes({ name, command, args }: (typeof checks)[number]): Promise<boolean> {
  const startedAt = performance.now();
  const program = path.join(checkout, 'node_modules/.bin', command);
  const { code, output } = await processes.outputOf(program, args, {
    cwd: checkout,
    env: environment,
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (code === 0) session.log(`${paint('green', '✓')} ${name} (${seconds} s)`);
  else session.log(`${output.trimEnd()}\n${paint('red', '✗')} ${name}: ${command} ${args.join(' ')} failed`);
  return code === 0;
}

async function vitest(named: readonly string[], env: NodeJS.ProcessEnv) {
  const report = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tests-')), 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = ['run', '--config', 'vitest.config.ts', ...reporters, ...named];
  const program = path.join(checkout, 'node_modules/.bin/vitest');
  const child = processes.start('application', program, args, { cwd: checkout, env, stdio: 'inherit' });
  const { code, reason } = await processes.exitOf(child);
  // Interrupted: what there is to say was said.
  if (processes.isEnding()) return new Promise<never>(() => undefined);
  await processes.endGroup(child);
  try {
    return { code, ...count(JSON.parse(fs.readFileSync(report, 'utf8')) as Report) };
  } catch {
    session.log(`vitest ${reason} without a report`);
    return { code: code || 1, passed: 0, failed: 1 };
  } finally {
    fs.rmSync(path.dirname(report), { recursive: true, force: true });
  }
}

/** The long run, which has servers of its own: see test/faults/storm/main.ts. */
async function storm(profile: string, args: readonly string[]): Promise<number> {
  const program = path.join(checkout, 'test/faults/storm/main.ts');
  const child = processes.start('application', process.execPath, [program, '--profile', profile, ...args], {
    cwd: checkout,
    env: environment,
    stdio: 'inherit',
  });
  const { code } = await processes.exitOf(child);
  await processes.endGroup(child);
  return code ?? 1;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/** A file that could not even be loaded counts as one failure; its tests are unknown. */
function count(report: Report) {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

if (import.meta.main) await session.run(test);
