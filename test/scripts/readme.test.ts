// @slow: it runs the commands of the README in a clone.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { difference, run, samplesIn } from '../guides/samples.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { numberedFolder } from '../support/runner/numbered-folder.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Commits the working tree to a new repository, as a stranger would find it. */
function publish(): { repository: string; folder: string } {
  const folder = numberedFolder('stranger');
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const repository = join(folder, 'published');
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' });
  const files = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  git(folder, 'init', '--quiet', 'published');
  for (const file of files.filter(Boolean))
    cpSync(join(root, file), join(repository, file), { force: true, errorOnExist: false });
  git(repository, 'add', '--all');
  git(repository, '-c', 'user.name=Tests', '-c', 'user.email=tests@example.com', 'commit', '-qm', 'All');
  return { repository, folder };
}

/** Turns a line of the README into a pattern: … matches anything, and any number of seconds matches. */
const patternOf = (line: string) =>
  line
    .replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
    .replaceAll(/ +/g, ' +')
    .replaceAll('…', '\\S+')
    .replace(/\d+\\\.\d+ \+s/, '[\\d.]+ +s');

/** Turns lines into a pattern that matches them one below the other in their printed box. */
const boxOf = (lines: string) => new RegExp(lines.split('\n').map(patternOf).join(' *│\n│ *'));

test('a stranger who copies the lines of the README has what it shows', async () => {
  const { repository, folder } = publish();
  const clone = join(folder, 'messaging-service');
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const [start, ...later] = samplesIn(readme);
  const { PATH = '', HOME = '', MYSQL_URL = '', REDIS_URL = '', QUEUE_PREFIX = '' } = process.env;
  // A stranger compiles all code; a test that is run again need not.
  const { NODE_COMPILE_CACHE = '' } = process.env;
  // The packages of this checkout are linked between the two lines, as to install them needs a minute and the network.
  const [fetch, ...go] = start!.command.trimEnd().split('\n');
  const environment = { PATH, HOME, PORT: port, MYSQL_URL, REDIS_URL, QUEUE_PREFIX, NODE_COMPILE_CACHE };
  const blank = "'<address of this repository>'";
  expect(fetch).toContain(` ${blank} `);
  execFileSync('bash', ['-euc', fetch!.replace(blank, repository)], {
    cwd: folder,
    env: environment,
    stdio: 'pipe',
  });
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));

  const platform = spawn('bash', ['-euc', `exec ${go.join('\n')}`], { cwd: clone, env: environment });
  const ended = once(platform, 'close');
  atEnd(async () => {
    platform.kill('SIGKILL');
    await ended;
  });
  const written: string[] = [];
  for (const stream of [platform.stdout, platform.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
  const output = () => written.join('');
  await waitFor(
    `the platform is ready, or has ended: ${output()}`,
    () => /All this.*\n/.test(output()) || platform.exitCode !== null,
    { timeoutMs: 180_000 },
  );
  const [, shown] = /```text\n([^]*?)\n```/.exec(readme)!;
  expect(output()).toMatch(boxOf(shown!.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)));

  expect(later.length).toBe(2);
  for (const sample of later)
    await waitFor(sample.command, async () => {
      const answer = await run(sample, { url, folder: clone, variables: {} });
      const found = difference(sample.answer!, answer);
      if (found !== undefined) throw new Error(`${found} in ${answer}`);
      return true;
    });

  // Ctrl-C stops all of it.
  platform.kill('SIGINT');
  const [code] = (await ended) as [number | null];
  expect([code, output()]).toEqual([0, expect.not.stringContaining('"level":"error"')]);
  await expect(globalThis.fetch(`${url}/health/live`)).rejects.toThrow();
});

test('the README keeps to 150 lines, and its links lead to files', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(151);
  for (const [, href] of readme.matchAll(/\]\(([^)]+)\)/g))
    if (!href!.startsWith('http')) expect(() => readFileSync(join(root, href!)), href).not.toThrow();
});
