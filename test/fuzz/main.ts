import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkout, localDir } from '../../scripts/setup/environment.ts';
import * as processes from '../../scripts/setup/start/processes.ts';
import * as session from '../../scripts/setup/start/session.ts';
import { startServers } from '../faults/storm/servers.ts';
import { endAll } from '../support/runner/at-end.ts';
import type { Find } from './inputs.ts';
import { type Options, optionsOf, repetition } from './options.ts';
import { settings, targetOfHttp, targetOfSmtp } from './settings.ts';

type Found = Find & { bytes: Buffer };

const log = (text: string) => session.log(text);

async function main(): Promise<number> {
  const chosen = optionsOf(process.argv.slice(2));
  const servers = await startServersIn(await ownFolder());
  // The platform's modules take their settings when they are first imported.
  for (const name of Object.keys(process.env))
    if (!['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].includes(name)) delete process.env[name];
  Object.assign(process.env, servers.settings);
  const { targets } = await import('./targets/index.ts');
  const names = targets.map(({ name }) => name);
  const known = [...names, targetOfHttp, targetOfSmtp];
  if (chosen.target !== undefined && !known.includes(chosen.target))
    throw new session.Unfit(`--target is one of ${known.join(', ')}`);
  await migrate();
  log(`Seed ${chosen.seed}, ${servers.version}`);
  const [parsers, platform] = await Promise.all([runParsers(chosen, names), runPlatform(chosen)]);
  await endAll();
  const finds = [...parsers.finds, ...platform.finds];
  log(parsers.text + platform.text);
  if (finds.length === 0) {
    log('Nothing was found.');
    return 0;
  }
  report(finds, chosen);
  return 1;
}

async function ownFolder(): Promise<string> {
  const folder = await session.holdFree(path.join(os.tmpdir(), `fuzz-${os.userInfo().uid}`));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  process.env['TMPDIR'] = folder;
  return folder;
}

async function startServersIn(folder: string) {
  const { mysql, redis, version } = await startServers();
  const all = {
    ...settings,
    TMPDIR: folder,
    MYSQL_URL: mysql.url,
    REDIS_URL: redis.url,
    SECRET_KEY: `k1:${randomBytes(32).toString('hex')}`,
    LOG_LEVEL: 'silent',
  };
  return { version, settings: all };
}

async function migrate(): Promise<void> {
  const { code, output } = await processes.outputOf(process.execPath, ['scripts/setup/migrate.ts', 'up'], {
    cwd: checkout,
    env: process.env,
  });
  if (code !== 0) throw new session.Unfit(`The database could not be migrated:\n${output}`);
}

const untilOf = ({ minutes }: Options) => Date.now() + minutes * 60_000;

async function runParsers(chosen: Options, all: string[]): Promise<{ finds: Found[]; text: string }> {
  const names = chosen.target === undefined ? all : all.filter((name) => name === chosen.target);
  if (names.length === 0) return { finds: [], text: '' };
  const { fuzzParsers } = await import('./watch.ts');
  const { inputOf } = await import('./inputs.ts');
  const { targets } = await import('./targets/index.ts');
  const { seed } = chosen;
  const to = Math.min(chosen.inputs * names.length, Number.MAX_SAFE_INTEGER);
  const { finds, inputs } = await fuzzParsers(
    { seed, names, from: 0, to, until: untilOf(chosen) },
    process.env['TMPDIR']!,
  );
  const bytesOf = ({ target, index }: Find) =>
    inputOf(seed, targets.find(({ name }) => name === target)!, index);
  return {
    finds: finds.map((find) => ({ ...find, bytes: bytesOf(find) })),
    text: `${inputs} inputs for ${names.length} parsers\n`,
  };
}

async function runPlatform(chosen: Options): Promise<{ finds: Found[]; text: string }> {
  const { target: only } = chosen;
  if (only !== undefined && only !== targetOfHttp && only !== targetOfSmtp) return { finds: [], text: '' };
  const { closeEverything, startUp } = await import('../../shared/lifecycle.ts');
  const { startSmtpSink } = await import('../support/servers/smtp-sink.ts');
  const { memoryMb, startPlatform } = await import('./platform.ts');
  const { fuzzPlatform } = await import('./sessions.ts');
  await startUp();
  const sink = await startSmtpSink();
  const platform = await startPlatform(sink.url);
  const { seed, inputs } = chosen;
  const result = await fuzzPlatform(platform, sink, { seed, inputs, until: untilOf(chosen), only });
  const memory = platform.subjects
    .filter(({ process }) => process.isRunning())
    .map(({ name, process }) => `${name} ${memoryMb(process.pid).toFixed(0)} MB`);
  await closeEverything();
  const answers = Object.entries(result.answers)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => `${name}: ${count}`);
  return {
    finds: result.finds,
    text: [
      `${result.replayed} finds of earlier runs and ${result.inputs} inputs for the platform; ${answers.join(', ')}`,
      `Memory at the end: ${memory.join(', ')}`,
      `Stalls that did not come again: ${result.unrepeated.join(', ') || 'none'}`,
    ].join('\n'),
  };
}

const mostShown = 30;

/** Writes each find as a file, ready for test/fuzz/corpus, and prints the command that makes the finds again. */
function report(finds: readonly Found[], chosen: Options): void {
  const folder = path.join(localDir, `fuzz-${chosen.seed}`);
  fs.rmSync(folder, { recursive: true, force: true });
  for (const find of finds) {
    const file = path.join(folder, find.target, `${find.index}`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, find.bytes);
    fs.writeFileSync(`${file}.txt`, `${find.fault}\n`);
  }
  log(`FOUND ${finds.length}:`);
  for (const { target, index, fault } of finds.slice(0, mostShown))
    log(`${target} ${index}: ${fault.split('\n').slice(0, 4).join('\n    ')}`);
  log(`Their inputs: ${folder}`);
  log(`To repeat it: ${repetition(chosen)}`);
}

if (import.meta.main) await session.run(main);
