import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { given, localDir } from '../setup/environment.ts';
import * as processes from '../setup/processes.ts';
import * as session from '../setup/session.ts';
import { type Bench, checkSame, type Line, type Run, type Side } from './line.ts';
import { lines } from './lines/index.ts';
import { summary } from './profile.ts';
import { type Result, resultOf } from './result.ts';
import { watchStatements } from './statements.ts';
import { refusalOf, tableOf, wholeWay } from './table.ts';
import { openWorld } from './world.ts';

const usage = `scripts/bench [line …] [--pairs 5] [--json file] [--allow-noise] [--scale 1] [--profile] [--statements]

Measures the platform beside the bare minimum, in turn, on the same MySQL and Redis. Lines:
${lines.map(({ name, title }) => `  ${name.padEnd(14)} ${title}`).join('\n')}

  --pairs N       how often each side is measured, after a first time that does not count; up to twice as often where
                  the pairs tell different stories, and refused if they still do on whether a target is met
  --json FILE     all results in one file; else each line in .local/bench/LINE.json
  --allow-noise   report even when the pairs tell different stories
  --scale N       0.1 does a tenth of the work: quick, and good for a look only
  --profile       also print where the time of both sides went; the rates are lower then
  --statements    also print what MySQL was asked for, and how many rows it looked at; the rates are lower then`;

function options() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        pairs: { type: 'string', default: '5' },
        json: { type: 'string' },
        'allow-noise': { type: 'boolean', default: false },
        scale: { type: 'string', default: '1' },
        profile: { type: 'boolean', default: false },
        statements: { type: 'boolean', default: false },
      },
    });
    const [pairs, scale] = [Number(values.pairs), Number(values.scale)];
    if (!Number.isInteger(pairs) || pairs < 1 || !(scale > 0))
      throw new Error('--pairs and --scale must be positive');
    // `email` means all lines about it: email-out, email-isolation.
    const isMeant = (wanted: string, name: string) => name === wanted || name.startsWith(`${wanted}-`);
    const unknown = positionals.find((wanted) => !lines.some(({ name }) => isMeant(wanted, name)));
    if (unknown) throw new Error(`There is no line "${unknown}"`);
    const chosen = lines.filter(
      ({ name }) =>
        positionals.length === 0 ||
        positionals.includes(name) ||
        positionals.some((wanted) => !lines.some((line) => line.name === wanted) && isMeant(wanted, name)),
    );
    return { ...values, pairs, scale, chosen };
  } catch (error) {
    throw new session.Unfit(`${(error as Error).message}\n\n${usage}`);
  }
}

/** A line that other programs have disturbed is measured up to twice as often before it is told, or refused. */
async function measure(line: Line, bench: Bench, pairs: number, allowNoise: boolean): Promise<Result> {
  const { sides, close } = await line.open(bench);
  const all = sides.map((side) => ({ side, runs: [] as Run[] }));
  const result = () => resultOf(line, all, { machine: bench.world.machine, scale: bench.scale });
  const isDisturbed = () => !allowNoise && result().isNoisy;
  try {
    // The first time warms the servers up.
    for (const side of sides) await side.run();
    for (let pair = 0; pair < pairs || (pair < 2 * pairs && isDisturbed()); pair += 1) {
      // Who goes first changes, so that nobody always comes after the same one.
      for (const { side, runs } of pair % 2 === 0 ? all : all.toReversed()) runs.push(await side.run());
      progress(line, pair, all);
    }
  } finally {
    await close();
  }
  const [platform] = all;
  for (const { side, runs } of all)
    for (const { content } of runs)
      checkSame(
        `${line.name}: what platform and ${side.name} sent or stored`,
        platform?.runs[0]?.content ?? '',
        content,
      );
  return result();
}

function progress({ name, unit }: Line, pair: number, all: { side: Side; runs: Run[] }[]): void {
  const rates = all.map(({ side, runs }) => {
    const { count, window } = runs[pair]!;
    return `${side.name} ${Math.round(count / window.seconds)} (others ${window.otherCores.toFixed(1)})`;
  });
  process.stderr.write(`${name} ${pair + 1}, ${unit}/s and cores of others: ${rates.join(', ')}\n`);
}

function write(file: string, value: unknown): void {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

async function main(): Promise<number> {
  const { chosen, pairs, scale, json, profile, statements, 'allow-noise': allowNoise } = options();
  const [mysqlUrl, redisUrl] = [given['MYSQL_URL'], given['REDIS_URL']];
  if (!mysqlUrl || !redisUrl)
    throw new session.Unfit('MYSQL_URL and REDIS_URL are missing. Run scripts/bench');
  const folder = path.join(localDir, 'bench');
  const world = await openWorld({ mysqlUrl, redisUrl, folder });
  const reported: Result[] = [];
  let code = 0;
  try {
    session.log(
      Object.entries(world.machine)
        .map(([name, value]) => `${name}: ${value}`)
        .join('; '),
    );
    for (const line of chosen) {
      const profileFolder = profile ? path.join(folder, 'profiles', line.name) : undefined;
      if (profileFolder) fs.rmSync(profileFolder, { recursive: true, force: true });
      const watch = statements ? await watchStatements(world, line.name) : undefined;
      let result: Result;
      try {
        result = await measure(line, { world, scale, profileFolder }, pairs, allowNoise);
      } catch (error) {
        if (processes.isEnding()) throw error;
        // What the others have to say took an hour.
        process.stderr.write(`${line.name}: ${(error as Error).stack}\n`);
        code = 1;
        continue;
      } finally {
        if (watch) session.log(await watch.stop());
      }
      if (result.isUndecided && !allowNoise) {
        process.stderr.write(`${refusalOf(result)}\n`);
        code = 1;
      } else {
        reported.push(result);
        session.log(`\n${tableOf(result)}`);
        write(json ?? path.join(folder, `${line.name}.json`), json ? reported : result);
      }
      if (profileFolder) session.log(summary(profileFolder));
    }
    session.log(wholeWay(reported));
  } finally {
    await world.close();
  }
  return code;
}

await session.run(main);
