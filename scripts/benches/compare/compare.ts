import path from 'node:path';
import { localDir } from '../../setup/environment.ts';
import * as processes from '../../setup/start/processes.ts';
import * as session from '../../setup/start/session.ts';
import { checkSame, isBare, type Line, type Run } from '../line.ts';
import { type Servant, startServant } from '../program.ts';
import { rateOf, save } from '../result.ts';
import { type Checkout, changedBenches, checkOut, workingTree } from './checkout.ts';
import {
  type Comparison,
  comparisonOf,
  comparisonTable,
  type Pairs,
  type TreeName,
  trees,
  verdictLine,
} from './comparison.ts';
import type { Asked, SideName } from './driver.ts';

interface Options {
  commit: string;
  chosen: Line[];
  pairs: number;
  scale: number;
  least: number;
  json?: string | undefined;
}
type Servers = Record<'mysqlUrl' | 'redisUrl', string>;

/** The benches of one commit, in a process that loads the modules of this commit and has a database of its own. */
interface Tree {
  title: string;
  driver: Servant;
  lines: string[];
  machine: Comparison['machine'];
}
type Trees = Record<TreeName, Tree>;

const folder = path.join(localDir, 'bench/compare');
// Both trees use the same servers.
const sharedServers = ['mysql', 'redis'];

/**
 * Measures the working tree against a commit: runs both in turn through the same lines, on the same servers, each
 * with its own benches. Returns the exit code, which is 1 when a line is certainly slower than it may be, or when one
 * has failed.
 */
export async function compare(options: Options, servers: Servers): Promise<number> {
  const { commit, chosen, json } = options;
  const old = await startTree('old', await checkOut(commit, path.join(folder, 'checkout')), servers);
  const both: Trees = { new: await startTree('new', await workingTree(), servers), old };
  session.log(
    Object.entries(both.new.machine)
      .map(([name, value]) => `${name}: ${value}`)
      .join('; '),
  );
  for (const tree of trees) session.log(`${tree}: ${both[tree].title}`);
  const changed = await changedBenches(commit);
  if (changed.length > 0) session.log(`The benches themselves differ in ${changed.join(', ')}`);
  const done: Comparison[] = [];
  let hasFailed = false;
  for (const line of chosen) {
    if (!both.old.lines.includes(line.name)) {
      session.log(`\n${line.name}: skipped, for the old commit does not have it`);
      continue;
    }
    try {
      const compared = await compareLine(line, both, options);
      done.push(...compared);
      for (const comparison of compared) session.log(`\n${comparisonTable(comparison)}`);
      save(json ?? path.join(folder, `${line.name}.json`), json ? done : compared);
    } catch (error) {
      if (processes.isEnding()) throw error;
      // One failed line must not end the run, since the results of the others took hours.
      process.stderr.write(`${line.name}: ${(error as Error).stack}\n`);
      hasFailed = true;
    }
  }
  session.log(['', ...done.map(verdictLine)].join('\n'));
  for (const { driver } of Object.values(both)) await driver.ask('leave');
  for (const { driver } of Object.values(both)) await driver.stop();
  return hasFailed || done.some(({ verdict }) => verdict === 'MISSED') ? 1 : 0;
}

async function startTree(name: TreeName, checkout: Checkout, servers: Servers): Promise<Tree> {
  const own = path.join(folder, name);
  const driver = await startServant({
    node: checkout.node,
    args: [path.join(import.meta.dirname, 'driver.ts'), checkout.folder, own],
    // Each commit has its own compile cache, because it cannot use that of the other.
    settings: { LOCAL_DIR: own },
    logFile: path.join(own, 'logs/driver.log'),
  });
  return {
    title: checkout.title,
    driver,
    lines: await driver.ask<string[]>('lines'),
    machine: await driver.ask<Comparison['machine']>('enter', servers),
  };
}

async function compareLine(line: Line, both: Trees, options: Options): Promise<Comparison[]> {
  const { pairs, scale, least } = options;
  const notes: string[] = [];
  try {
    const sides = await openSides(line, both, scale, notes);
    const all = sides.map((side) => ({ side, pairs: { new: [], old: [] } as Pairs }));
    const run = (tree: TreeName, side: SideName) => both[tree].driver.ask<Run>('run', side.name);
    // The first time warms the servers up.
    for (const side of sides) for (const tree of trees) await run(tree, side);
    for (let pair = 0; pair < pairs; pair += 1)
      for (const { side, pairs } of all) {
        // The two trees take turns in going first, so that neither always comes second.
        for (const tree of pair % 2 === 0 ? trees : trees.toReversed())
          pairs[tree].push(await run(tree, side));
        progress(line, side, pairs);
      }
    for (const { side, pairs } of all) for (const tree of trees) checkSteady(line, side, tree, pairs[tree]);
    const titles = { new: both.new.title, old: both.old.title };
    const given = { machine: both.new.machine, scale, titles, least, notes, servers: sharedServers };
    return all.map(({ side, pairs }) => comparisonOf(line, side, pairs, given));
  } finally {
    for (const { driver } of Object.values(both)) await driver.ask('close');
  }
}

/** The sides of the platform that both trees have. */
async function openSides(line: Line, both: Trees, scale: number, notes: string[]): Promise<SideName[]> {
  const open = async (tree: TreeName) => {
    const asked: Asked = { line: line.name, scale };
    return (await both[tree].driver.ask<SideName[]>('open', asked)).filter((side) => !isBare(side));
  };
  const [ours, theirs] = [await open('new'), await open('old')];
  const has = (sides: SideName[], { name }: SideName) => sides.some((side) => side.name === name);
  const alone = [...ours, ...theirs].filter((side) => !has(ours, side) || !has(theirs, side));
  if (alone.length > 0)
    notes.push(`Only one of the two has, and left out: ${alone.map(({ name }) => name).join(', ')}`);
  return ours.filter((side) => has(theirs, side));
}

function checkSteady(line: Line, side: SideName, tree: TreeName, runs: Run[]): void {
  for (const { content } of runs)
    checkSame(
      `${line.name}, ${side.name}: what ${tree} sent or stored from run to run`,
      runs[0]!.content,
      content,
    );
}

function progress({ name, unit }: Line, side: SideName, pairs: Pairs): void {
  const rates = trees.map((tree) => {
    const run = pairs[tree].at(-1)!;
    return `${tree} ${Math.round(rateOf(run))} (others ${run.window.otherCores.toFixed(1)})`;
  });
  process.stderr.write(
    `${name}, ${side.name} ${pairs.new.length}, ${unit}/s and cores of others: ${rates.join(', ')}\n`,
  );
}
