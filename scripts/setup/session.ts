import fs from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import * as kept from './kept.ts';
import * as processes from './processes.ts';

export const log = (text: string): void => void process.stdout.write(`${text}\n`);

/** A reason to stop that the reader can act on; shown without a stack. */
export class Unfit extends Error {}

interface Holder {
  pid: number;
  guard: number | undefined;
}

/**
 * One run per folder: two would share data files and ports. Returns false when another run has it, and waits
 * for a guard that is still ending what a killed run left behind.
 */
export async function hold(folder: string): Promise<boolean> {
  const file = path.join(folder, 'running.json');
  const holder = kept.read(file) as Holder | undefined;
  if (holder && holder.pid !== process.pid) {
    if ((await processes.commandLine(holder.pid)).includes('scripts/setup/')) return false;
    const guardAtWork = async () =>
      holder.guard !== undefined && (await processes.commandLine(holder.guard)).includes('guard.sh');
    if (await guardAtWork()) log('Waiting for the processes of a killed run to end');
    while (await guardAtWork()) await new Promise((resolve) => setTimeout(resolve, 100));
    fs.rmSync(file, { force: true });
  }
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = `${file}.${process.pid}`;
  kept.write(own, { pid: process.pid, guard: processes.startGuard() } satisfies Holder);
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
  return true;
}

/**
 * Runs `body` and ends whatever it started, however it ends: by itself, by an error, by Ctrl-C or SIGTERM
 * (then the exit code is `interrupted`, or 128 + signal). A second Ctrl-C does not wait for work in hand.
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
  // Whoever read our output is gone; that is no reason to leave servers behind.
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
