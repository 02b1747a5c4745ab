// @slow: it runs benches in worktrees of two commits.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Comparison } from '../../scripts/benches/compare/comparison.ts';
import { startProcess } from '../support/processes/processes.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { numberedFolder } from '../support/runner/numbered-folder.ts';
import { waitFor } from '../support/time/wait-for.ts';

const root = join(import.meta.dirname, '../..');
const limitMs = 600_000;

let clone: string;

/**
 * Makes a temporary clone, with the files of this checkout as its first commit. The tests share the clone, so that
 * code compiled by one test need not be compiled again by the next.
 */
beforeAll(() => {
  clone = numberedFolder('bench-compare');
  // A process that is just ending may still write a file while the folder is removed.
  atEnd(() => rmSync(clone, { recursive: true, force: true, maxRetries: 10 }));
  const parts = ['api', 'workers', 'shared', 'scripts', 'Procfile', 'package.json', 'package-lock.json'];
  for (const name of [...parts, '.gitignore'])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  git('init', '--quiet');
  writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  commitAll('First');
  git('tag', 'first');
});

beforeEach(() => {
  git('reset', '--quiet', '--hard', 'first');
  git('clean', '--quiet', '-ffd');
  rmSync(join(clone, '.local'), { recursive: true, force: true, maxRetries: 10 });
  git('worktree', 'prune');
});

function git(...args: string[]): string {
  const settings = ['user.name=A', 'user.email=a@b.example', 'commit.gpgSign=false', 'core.hooksPath='];
  return execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: clone,
    encoding: 'utf8',
  });
}

function commitAll(message: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

type Settings = Record<string, string>;

const start = (args: string[], settings: Settings = {}) =>
  startProcess(join(clone, 'scripts/setup/bench.ts'), ['compare', ...args], {
    LOCAL_DIR: join(clone, '.local'),
    ...settings,
  });

async function compare(...given: (string | Settings)[]) {
  const json = join(clone, '.local/result.json');
  const args = given.filter((one) => typeof one === 'string');
  const settings = given.find((one) => typeof one === 'object');
  const { exited, output } = start([...args, '--json', json], settings);
  const { code } = await exited;
  const results: Comparison[] = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : [];
  return { code, output: output(), results };
}

/** Checks that no files of the old commit are left, and no worktree in git. */
function expectNothingLeft(): void {
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
  expect(existsSync(join(clone, '.local/bench/compare/checkout'))).toBe(false);
  expect(existsSync(join(root, 'node_modules/mysql2'))).toBe(true);
}

/** Returns code of benches that report the given rates in turn, over and over, and note which checkout runs when. */
const planted = (rates: Record<string, number[]>) => `
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
const rates = ${JSON.stringify(rates)};
const line = ([name, all]) => ({
  name, title: name, unit: 'things', targets: {}, notes: [],
  async open({ world }) {
    let runs = 0;
    const run = async () => {
      fs.appendFileSync(path.join(world.folder, '..', name), path.basename(world.folder) + ' ');
      if (all.length === 0) await delay(1e8);
      const count = all[runs++ % all.length];
      const usages = { web: { cpuSeconds: count / 500, peakMb: 80, ownPeakMb: 60 } };
      return { count, window: { seconds: 1, otherCores: 0, usages }, content: String(all.length) };
    };
    const side = (name) => ({ name, title: name, run });
    return { sides: [side('platform'), side('bare')], close: async () => undefined };
  },
});
export const lines = Object.entries(rates).map(line);
`;

function plant(rates: Record<string, number[]>): void {
  writeFileSync(join(clone, 'scripts/benches/lines/index.ts'), planted(rates));
}

async function benchDatabases(): Promise<string[]> {
  const connection = await mysql.createConnection({
    uri: process.env['MYSQL_URL']!.replace(/\/[^/]*$/, '/'),
  });
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>("SHOW DATABASES LIKE 'bench\\_%'");
    return rows.flatMap((row) => Object.values(row) as string[]);
  } finally {
    await connection.end();
  }
}

test('where git is missing, or does not know the commit, that is what it says', {
  timeout: limitMs,
}, async () => {
  const programs = join(clone, 'programs');
  mkdirSync(programs);
  symlinkSync('/bin/sh', join(programs, 'sh'));
  const missing = await compare('HEAD', { PATH: programs });
  expect(missing).toMatchObject({ code: 1, output: expect.stringContaining('git') });
  const unknown = await compare('nowhere');
  expect(unknown).toMatchObject({ code: 1, output: expect.stringMatching(/git rev-parse .* failed/) });
  expectNothingLeft();
});

test('a commit beside itself: each of both is a platform of its own, and one pair decides nothing', {
  timeout: limitMs,
}, async () => {
  const databases = await benchDatabases();
  const options = ['--pairs', '1', '--scale', '0.01'];
  const { code, output, results } = await compare('HEAD', 'contacts', ...options);
  expect([code, output]).toEqual([0, expect.stringContaining('contacts, platform: rate, new / old:')]);
  expect(results).toMatchObject([
    { line: 'contacts', side: 'platform', verdict: 'UNDECIDED', notes: [], runs: { new: [{}], old: [{}] } },
  ]);
  const { rows } = results[0]!;
  for (const name of ['contacts/s', 'CPU s per 1,000 contacts', '  mysql', 'peak MB without files, web']) {
    const row = rows.find((row) => row.name === name)!;
    expect([name, row.old.median > 0, row.new.median > 0]).toEqual([name, true, true]);
  }
  expectNothingLeft();
  expect(await benchDatabases()).toEqual(databases);
});

test('what is slower for sure fails, what may be is told, and what the commit lacks is left out', {
  timeout: limitMs,
}, async () => {
  const steady = [1_000, 990, 1_010];
  plant({ accept: steady, auth: steady, relay: [1_000] });
  // This commit has another lock file, so its own script installs its packages.
  writeFileSync(join(clone, 'package-lock.json'), '{}');
  writeFileSync(
    join(clone, 'scripts/setup/prepare.sh'),
    `cd "$(dirname "$0")/.." && ln -s '${join(root, 'node_modules')}' . && pwd >>'${clone}/prepared'\n`,
  );
  commitAll('Old');
  git('checkout', '--quiet', 'HEAD~1', '--', 'package-lock.json', 'scripts/setup/prepare.sh');
  plant({
    accept: steady.map((rate) => 0.9 * rate),
    auth: steady,
    relay: [900, 1_100],
    feed: steady,
  });

  const { code, output, results } = await compare('HEAD', 'accept', 'auth', 'relay', 'feed');
  expect([code, output]).toEqual([1, expect.stringContaining('feed: skipped')]);
  expect(output).toMatch(/^new: \w+ Old, with \d files changed since$/m);
  expect(output).toContain('The benches themselves differ in scripts/benches/lines/index.ts\n');
  const shown = results.map(({ line, side, speed: { median, interval }, verdict, notes }) => [
    line,
    side,
    ...[median, interval.from, interval.to].map((ratio) => ratio.toFixed(2)),
    verdict,
    notes.length,
  ]);
  expect(shown).toEqual([
    ['accept', 'platform', '0.90', '0.90', '0.90', 'MISSED', 0],
    ['auth', 'platform', '1.00', '1.00', '1.00', 'met', 0],
    // The reported content differs too, so there is a note.
    ['relay', 'platform', '1.00', '0.90', '1.10', 'UNDECIDED', 1],
  ]);
  const ofCompare = join(clone, '.local/bench/compare');
  const order = readFileSync(join(ofCompare, 'accept'), 'utf8');
  expect(order).toBe(`new old ${'new old old new '.repeat(5)}`);
  expect(readFileSync(join(clone, 'prepared'), 'utf8')).toBe(`${join(ofCompare, 'checkout')}\n`);
  expectNothingLeft();
});

test('a comparison that is interrupted or killed leaves nothing behind, and the next one does not mind what a power failure left', {
  timeout: limitMs,
}, async () => {
  const databases = await benchDatabases();
  const checkout = join(clone, '.local/bench/compare/checkout');
  const marks = join(clone, '.local/bench/compare/accept');
  plant({ accept: [] });
  commitAll('Endless');
  const startEndless = async () => {
    rmSync(marks, { force: true });
    const bench = start(['HEAD', 'accept']);
    await waitFor('a line is measured', () => existsSync(marks), { timeoutMs: limitMs / 4 });
    return bench;
  };
  expect(await (await startEndless()).stop()).toMatchObject({ code: 143 });
  expectNothingLeft();
  expect(await benchDatabases()).toEqual(databases);

  await (await startEndless()).kill();
  await waitFor('the killed one is cleaned up after', () => !existsSync(checkout), {
    timeoutMs: limitMs / 4,
  });
  expectNothingLeft();

  // A power failure would leave a worktree like this.
  git('worktree', 'add', '--quiet', '--detach', checkout);
  writeFileSync(join(checkout, 'scripts/benches/lines/index.ts'), 'of long ago');
  plant({ accept: [1_000] });
  commitAll('Quick');
  // The new side is surely slower, but within the allowed limit.
  plant({ accept: [900] });
  const quick = await compare('HEAD', 'accept', '--least', '0.85');
  expect(quick).toMatchObject({ code: 0, results: [{ verdict: 'met' }] });
  expectNothingLeft();
  expect(await benchDatabases()).toEqual(databases);
});
