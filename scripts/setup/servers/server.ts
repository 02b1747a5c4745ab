import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import * as processes from '../start/processes.ts';
import { countRestarts } from '../start/restarts.ts';
import { log, Unfit } from '../start/session.ts';
import type { Program } from './programs.ts';

export interface Server {
  stop(): Promise<void>;
  /** Rejects when the server has ended and does not come back. */
  failure: Promise<never>;
}

interface Launch {
  program: Program;
  args: readonly string[];
  /** A file and not a pipe, because a reader of our output must not wait for the server's output. */
  logFile: string;
  answers: () => Promise<void>;
}

const startLimitMs = 120_000;

/** Starts a database server, waits until it answers, and starts it again if it is killed. */
export async function startServer(launch: Launch): Promise<Server> {
  let current = start(launch);
  await current;
  let stopping = false;
  const keepRunning = async (): Promise<never> => {
    const restart = countRestarts();
    for (;;) {
      const child = await current;
      const { reason } = await processes.exitOf(child);
      await processes.endGroup(child);
      if (stopping || processes.isEnding()) return new Promise(() => undefined);
      const count = restart();
      if (!count) throw new Unfit(`${launch.program.kind} ${reason} again and again; see ${launch.logFile}`);
      log(`${launch.program.kind} ${reason}: starting it again (${count})`);
      current = start(launch);
    }
  };
  const failure = keepRunning();
  failure.catch(() => undefined);
  return {
    stop: async () => {
      stopping = true;
      // A server that is being started again would run on if nobody waited for it. A start that fails leaves none.
      const child = await current.catch(() => undefined);
      if (child) await processes.endGroup(child);
    },
    failure,
  };
}

async function start({ program, args, logFile, answers }: Launch): Promise<ChildProcess> {
  const output = fs.openSync(logFile, 'a', 0o600);
  const from = fs.fstatSync(output).size;
  const child = processes.start('server', program.command, args, {
    env: program.env,
    stdio: ['ignore', output, output],
    ...(program.argv0 && { argv0: program.argv0 }),
  });
  fs.closeSync(output);
  child.unref();
  const ended = processes.exitOf(child);
  let running = true;
  void ended.then(() => (running = false));
  const deadline = performance.now() + startLimitMs;
  for (;;) {
    try {
      await answers();
      return child;
    } catch (error) {
      if (running && performance.now() < deadline) {
        await Promise.race([delay(50), ended]);
        continue;
      }
      const reason = running ? `does not answer (${(error as Error).message})` : (await ended).reason;
      await processes.endGroup(child);
      const said = fs.readFileSync(logFile).subarray(from).toString().trim().split('\n').slice(-15);
      throw new Unfit(
        `${program.kind} ${program.version} ${reason}; ${logFile} ends with:\n${said.join('\n')}`,
        { cause: error },
      );
    }
  }
}
