import fs from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as kept from '../kept.ts';
import { birth, isStill } from './alive.ts';
import * as processes from './processes.ts';

export const log = (text: string): void => void process.stdout.write(`${text}\n`);

/** A reason to stop that the reader can act on; shown without a stack. */
export class Unfit extends Error {}

interface Holder {
  pid: number;
  born: string;
  guard: number;
  guardBorn: string;
}

/**
 * Allows one run per folder, because two would share data files and ports. Returns false when another run has the
 * folder. When this returns, all processes of a killed run have ended: its guard has ended them (we wait for it), or
 * we have.
 */
export async function hold(folder: string): Promise<boolean> {
  const file = path.join(folder, 'running.json');
  const holder = kept.read(file) as Holder | undefined;
  if (holder) {
    if (isStill(holder.pid, holder.born)) return false;
    while (isStill(holder.guard, holder.guardBorn)) await delay(100);
    fs.rmSync(file, { force: true });
  }
  const own = `${file}.${process.pid}`;
  const guard = processes.startGuard();
  kept.write(own, {
    pid: process.pid,
    born: birth(process.pid),
    guard,
    guardBorn: birth(guard),
  } satisfies Holder);
  try {
    // Unlike a rename this fails when somebody else was faster.
    fs.linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(own);
  }
  process.on('exit', () => fs.rmSync(file, { force: true }));
  await processes.recordIn(path.join(folder, 'processes.json'));
  return true;
}

/** Holds the folder, or one beside it, so that two runs at once in one checkout have servers of their own. */
export async function holdFree(folder: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? folder : `${folder}-${number}`;
    if (await hold(candidate)) return candidate;
  }
}

/**
 * Runs `body` and then ends all processes that it started, however it ends: by itself, by an error, by Ctrl-C or
 * SIGTERM (then the exit code is `interrupted`, or 128 + signal). A second Ctrl-C does not wait for unfinished work.
 */
export async function run(body: () => Promise<number>, interrupted?: number): Promise<never> {
  const stopped = new Promise<number>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(name, () => {
        if (processes.isEnding()) return processes.killAll();
        log(`\nStopping (${name})`);
        resolve(interrupted ?? 128 + constants.signals[name]);
      });
  });
  // The reader of our output has ended, but the servers must still be ended.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  let code: number;
  try {
    code = await Promise.race([body(), stopped]);
  } catch (error) {
    process.stderr.write(`${error instanceof Unfit ? error.message : (error as Error).stack}\n`);
    code = 1;
  }
  await processes.endAll();
  process.exit(code);
}
