import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import * as processes from './processes.ts';
import type { Program } from './programs.ts';
import { Unfit } from './session.ts';

export interface Server {
  pid: number;
  stop(): Promise<void>;
}

const startLimitMs = 120_000;
const stopGraceMs = 60_000;

/**
 * Starts a database server and waits until it answers. Its output goes to a file: whoever reads ours (a pipe, say)
 * must not wait for it.
 */
export async function startServer(
  program: Program,
  args: readonly string[],
  logFile: string,
  answers: () => Promise<void>,
): Promise<Server> {
  const output = fs.openSync(logFile, 'a', 0o600);
  const from = fs.fstatSync(output).size;
  const child = processes.start('server', program.command, args, {
    env: program.env,
    stdio: ['ignore', output, output],
    ...(program.argv0 && { argv0: program.argv0 }),
  });
  fs.closeSync(output);
  const ended = processes.exitOf(child);
  let running = true;
  void ended.then(() => (running = false));
  const deadline = performance.now() + startLimitMs;
  for (;;) {
    try {
      await answers();
      break;
    } catch (error) {
      if (running && performance.now() < deadline) {
        await Promise.race([delay(50), ended]);
        continue;
      }
      const reason = running ? `does not answer (${(error as Error).message})` : (await ended).reason;
      await processes.endGroup(child);
      const said = fs
        .readFileSync(logFile)
        .subarray(from)
        .toString()
        .trim()
        .split('\n')
        .slice(-15)
        .join('\n');
      throw new Unfit(`${program.kind} ${program.version} ${reason}; ${logFile} ends with:\n${said}`, {
        cause: error,
      });
    }
  }
  child.unref();
  return { pid: child.pid as number, stop: () => processes.endGroup(child, stopGraceMs) };
}
