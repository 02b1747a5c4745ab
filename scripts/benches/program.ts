import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkout, localDir } from '../setup/environment.ts';
import * as processes from '../setup/start/processes.ts';
import type { Answer, Question } from './serve.ts';

/** A process that a line has started. */
export interface Program {
  pid: number;
  /** All that it has written. */
  output(): string;
  stop(): Promise<void>;
}

/** A program of ours, which takes commands (serve.ts). */
export interface Servant extends Program {
  ask<Result = void>(command: string, payload?: unknown): Promise<Result>;
}

interface Options {
  /** The Node that runs the program; by default the one that runs this process. */
  node?: string;
  /** Node's own options, then the program and its arguments. */
  args: string[];
  settings: Record<string, string>;
  /** Gets the output of the process: a service writes its log to a file too. */
  logFile: string;
}

const startLimitMs = 120_000;
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'NODE_COMPILE_CACHE'];

/** Returns an environment without any setting of the caller. */
function environmentOf(settings: Record<string, string>): NodeJS.ProcessEnv {
  const kept = inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  // Uses the same compile cache as scripts/start.
  const compiled = path.join(localDir, 'compile-cache');
  return { NODE_COMPILE_CACHE: compiled, ...Object.fromEntries(kept), ...settings };
}

function start({ node = process.execPath, args, settings, logFile }: Options, channel: 'ipc' | 'ignore') {
  fs.mkdirSync(path.dirname(logFile), { recursive: true });
  const log = fs.openSync(logFile, 'w', 0o600);
  const child = processes.start('application', node, args, {
    cwd: checkout,
    env: environmentOf(settings),
    stdio: ['ignore', log, log, channel],
  });
  fs.closeSync(log);
  const output = () => fs.readFileSync(logFile, 'utf8');
  const failed = new Promise<never>((_, reject) => {
    void processes.exitOf(child).then(({ reason }) => {
      const lines = output().split('\n').slice(-30).join('\n');
      reject(new Error(`${args.at(0)} ${args.slice(1).join(' ')} ${reason}. It wrote:\n${lines}`));
    });
  });
  failed.catch(() => undefined);
  const program = { pid: child.pid ?? 0, output, stop: () => processes.endGroup(child) };
  return { child, program, failed };
}

/** Starts a program of the platform unchanged, and waits until `readyWhen` is in its log. */
export async function startPlatform(options: Options & { readyWhen: string }): Promise<Program> {
  const { program, failed } = start(options, 'ignore');
  const isReady = async () => {
    for (const since = performance.now(); performance.now() < since + startLimitMs; await delay(20))
      if (program.output().includes(options.readyWhen)) return;
    throw new Error(`${options.args.join(' ')} did not start. It wrote:\n${program.output()}`);
  };
  await Promise.race([isReady(), failed]);
  return program;
}

export async function startServant(options: Options): Promise<Servant> {
  const { child, program, failed } = start(options, 'ipc');
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const ready = Promise.withResolvers<void>();
  let lastId = 0;
  child.on('message', ({ id, result, error }: Answer) => {
    if (id === null) return ready.resolve();
    if (error === undefined) pending.get(id)?.resolve(result);
    else pending.get(id)?.reject(new Error(`${options.args.join(' ')}: ${error}`));
    pending.delete(id);
  });
  await Promise.race([ready.promise, failed]);
  return {
    ...program,
    ask: <Result>(command: string, payload?: unknown) => {
      lastId += 1;
      const answer = Promise.withResolvers<unknown>();
      pending.set(lastId, answer);
      child.send({ id: lastId, command, payload } satisfies Question);
      return Promise.race([answer.promise, failed]) as Promise<Result>;
    },
  };
}
