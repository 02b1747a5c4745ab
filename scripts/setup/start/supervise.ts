import { setTimeout as delay } from 'node:timers/promises';
import { checkout } from '../environment.ts';
import { follow, paint } from './log-lines.ts';
import * as processes from './processes.ts';
import type { Line } from './procfile.ts';
import { countRestarts } from './restarts.ts';
import { log, Unfit } from './session.ts';

interface Supervised {
  /** From now on, starts a process again when it ends; an earlier end is a failure of the start. */
  restartFromNow(): void;
  /** Rejects when a process ends that is not started again. */
  failure: Promise<never>;
}

/** Keeps the processes of a Procfile running, their output in one log. */
export function supervise(lines: readonly Line[], env: NodeJS.ProcessEnv): Supervised {
  const width = Math.max(...lines.map(({ name }) => name.length));
  let restarting = false;
  const failures = lines.map((line, index) =>
    keepRunning(line, { env, width, index, mayRestart: () => restarting }),
  );
  const failure = Promise.race(failures);
  // A caller that ends the run for another reason does not wait for this one.
  failure.catch(() => undefined);
  return {
    restartFromNow: () => {
      restarting = true;
    },
    failure,
  };
}

interface Surroundings {
  env: NodeJS.ProcessEnv;
  width: number;
  index: number;
  mayRestart: () => boolean;
}

async function keepRunning(line: Line, { env, width, index, mayRestart }: Surroundings): Promise<never> {
  const restart = countRestarts();
  for (;;) {
    const child = startLine(line, env);
    for (const stream of [child.stdout, child.stderr]) if (stream) follow(stream, line.name, width, index);
    const { reason } = await processes.exitOf(child);
    // This is no failure: everything is being ended, and this promise must stay silent.
    if (processes.isEnding()) return new Promise(() => undefined);
    await processes.endGroup(child);
    if (!mayRestart())
      throw new Unfit(`${line.name} ${reason} before the platform was ready (${line.command})`);
    const count = restart();
    if (!count) throw new Unfit(`${line.name} ${reason} again and again (${line.command})`);
    log(paint('red', `${line.name.padEnd(width)} | ${reason}: starting it again (${count})`));
    await delay(500);
  }
}

function startLine(line: Line, env: NodeJS.ProcessEnv) {
  // A shell in between would hide which signal ended the program.
  const isOneProgram = /^[\w.,:@/'-]+(?: [\w.,:@/'= -]*)?$/.test(line.command);
  const command = isOneProgram ? `exec ${line.command}` : line.command;
  return processes.start('application', '/bin/sh', ['-c', command], {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a line of the Procfile to its end. */
export async function runToEnd(line: Line, env: NodeJS.ProcessEnv): Promise<void> {
  const child = startLine(line, env);
  for (const stream of [child.stdout, child.stderr])
    if (stream) follow(stream, line.name, line.name.length, 0);
  const { code, reason } = await processes.exitOf(child);
  await processes.endGroup(child);
  if (code !== 0) throw new Unfit(`${line.name} ${reason} (${line.command})`);
}
