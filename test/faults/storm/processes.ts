import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkout, given } from '../../../scripts/setup/environment.ts';
import * as processes from '../../../scripts/setup/start/processes.ts';

export type Settings = Record<string, string>;

/** A place for one process of the platform. A process that dies is replaced, as by any process manager. */
export type Slot = {
  /** Such as `worker_email-2`. */
  name: string;
  /** The line of the Procfile, such as `worker_email`. */
  kind: string;
  /** The settings of a start without a fault. */
  settings: Settings;
  pid: () => number;
  /** Returns whether the current process has finished its start. */
  isUp: () => boolean;
  untilUp: (timeoutMs?: number) => Promise<void>;
  /** Sends SIGKILL to the process alone, not to its children; the slot then starts the next process. */
  kill: () => Promise<void>;
  freeze: () => void;
  thaw: () => void;
  /** Sends SIGTERM and starts the next process with other settings (default: the same ones). Returns the ending. */
  replace: (settings?: Settings) => Promise<Ending>;
  /** Stops the process with SIGTERM and starts no other. */
  stop: () => Promise<Ending>;
};

export type Ending = { code: number | null; signal: NodeJS.Signals | null; tookMs: number };

/** An end that no fault explains: the process had started well and ended by itself, or a stop failed. */
export type Oddity = { slot: string; atMs: number; text: string };

type Options = {
  name: string;
  kind: string;
  /** Program and arguments. */
  args: string[];
  settings: Settings;
  logFolder: string;
  onOddity: (oddity: Oddity) => void;
};

const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'];
const pauseMs = 300;
/** The line in the log from which on the process also handles SIGTERM. */
const startedLine = /"msg":"(web|workers|inbound) started"/;

/** Returns the environment of a process, without any setting from the caller's environment. */
export function environmentOf(settings: Settings): NodeJS.ProcessEnv {
  const kept = inherited.flatMap((name) => (given[name] ? [[name, given[name]]] : []));
  return { ...Object.fromEntries(kept), ...settings };
}

export function openSlot({ name, kind, args, settings, logFolder, onOddity }: Options): Slot {
  const logFile = path.join(logFolder, `${name}.log`);
  const log = fs.openSync(logFile, 'a', 0o600);
  let own = settings;
  let isOpen = true;
  let asked: NodeJS.Signals | undefined;
  let current = start();

  function start() {
    const from = fs.fstatSync(log).size;
    const child = processes.start('application', process.execPath, args, {
      cwd: checkout,
      env: environmentOf(own),
      stdio: ['ignore', log, log],
    });
    const ended = processes.exitOf(child);
    void ended.then(({ reason }) => replaceEnded(child, reason));
    return { child, from, hasStarted: false, ended };
  }

  async function replaceEnded(child: ChildProcess, reason: string): Promise<void> {
    if (processes.isEnding()) return;
    const isExpected = asked === 'SIGKILL' || (asked === 'SIGTERM' && child.exitCode === 0);
    if (!isExpected && isUp()) {
      const said = written(-4_000).trim().split('\n').slice(-5).join('\n');
      onOddity({ slot: name, atMs: Date.now(), text: `${reason}. Its log ends with:\n${said}` });
    }
    asked = undefined;
    // A child of the process (the one that compiles MJML) ends with it, or is ended here.
    await processes.endGroup(child);
    if (!isOpen) return fs.closeSync(log);
    await sleep(pauseMs);
    if (isOpen && !processes.isEnding()) current = start();
  }

  /** Reads the first bytes that the current process has logged, or (negative number) the last bytes of the slot. */
  function written(most: number): string {
    const { size } = fs.fstatSync(log);
    const bytes = Buffer.alloc(Math.min(most < 0 ? size : size - current.from, Math.abs(most)));
    const file = fs.openSync(logFile, 'r');
    fs.readSync(file, bytes, 0, bytes.length, most < 0 ? size - bytes.length : current.from);
    fs.closeSync(file);
    return bytes.toString();
  }

  const isRunning = ({ child }: typeof current) => child.exitCode === null && child.signalCode === null;
  function isUp(): boolean {
    current.hasStarted ||= startedLine.test(written(100_000));
    return current.hasStarted;
  }

  async function untilUp(timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(isRunning(current) && isUp())) {
      if (performance.now() > deadline)
        throw new Error(`${name} is not up after ${timeoutMs} ms. It wrote:\n${written(-3_000)}`);
      await sleep(50);
    }
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<Ending> {
    const { child, ended } = current;
    const since = performance.now();
    if (isRunning(current)) asked = signal;
    child.kill(signal);
    await ended;
    return { code: child.exitCode, signal: child.signalCode, tookMs: performance.now() - since };
  }

  return {
    name,
    kind,
    settings,
    pid: () => current.child.pid ?? 0,
    isUp: () => isRunning(current) && isUp(),
    untilUp,
    kill: async () => void (await end('SIGKILL')),
    freeze: () => void current.child.kill('SIGSTOP'),
    thaw: () => void current.child.kill('SIGCONT'),
    replace: (next = own) => {
      own = next;
      return end('SIGTERM');
    },
    stop: () => {
      isOpen = false;
      return end('SIGTERM');
    },
  };
}
