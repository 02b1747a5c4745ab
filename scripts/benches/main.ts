import fs from 'node:fs';
import path from 'node:path';
import { given, localDir } from '../setup/environment.ts';
import * as processes from '../setup/start/processes.ts';
import * as session from '../setup/start/session.ts';
import { compare } from './compare/compare.ts';
import { type Bench, checkSame, type Line, type Run, type Side } from './line.ts';
import { optionsOf } from './options.ts';
import { summary } from './profile.ts';
import { type Result, resultOf, save } from './result.ts';
import { watchStatements } from './statements.ts';
import { refusalOf, tableOf, wholeWay } from './table.ts';
import { openWorld } from './world.ts';

/**
 * Measures a line. One that other programs have disturbed is measured up to twice as often before it is reported or
 * refused.
 */
async function measure(line: Line, bench: Bench, pairs: number, allowNoise: boolean): Promise<Result> {
  const { sides, close } = await line.open(bench);
  const all = sides.map((side) => ({ side, runs: [] as Run[] }));
  const result = () => resultOf(line, all, { machine: bench.world.machine, scale: bench.scale });
  const isDisturbed = () => !allowNoise && result().isNoisy;
  try {
    // The first time warms the servers up.
    for (const side of sides) await side.run();
    for (let pair = 0; pair < pairs || (pair < 2 * pairs && isDisturbed()); pair += 1) {
      // The sides take turns in going first, so that none always comes after the same one.
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

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2));
  const { chosen, pairs, scale, json, profile, statements, 'allow-noise': allowNoise } = options;
  const [mysqlUrl, redisUrl] = [given['MYSQL_URL'], given['REDIS_URL']];
  if (!mysqlUrl || !redisUrl)
    throw new session.Unfit('MYSQL_URL and REDIS_URL are missing. Run scripts/bench');
  const folder = path.join(localDir, 'bench');
  if (options.commit !== undefined)
    return compare({ ...options, commit: options.commit }, { mysqlUrl, redisUrl });
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
        // One failed line must not end the run, since the results of the others took an hour.
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
        save(json ?? path.join(folder, `${line.name}.json`), json ? reported : result);
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
