import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkout, given } from '../../../scripts/setup/environment.ts';
import * as processes from '../../../scripts/setup/start/processes.ts';

export type Settings = Record<string, string>;

/** A place in the platform for one process. A process that dies in it is replaced, as by any process manager. */
export type Slot = {
  /** `worker_email-2`. */
  name: string;
  /** Its line of the Procfile: `worker_email`. */
  kind: string;
  /** The settings that it is started with when nothing is wrong. */
  settings: Settings;
  pid: () => number;
  /** Whether the process that is there now has finished its start. */
  isUp: () => boolean;
  untilUp: (timeoutMs?: number) => Promise<void>;
  /** SIGKILL, to that process alone and not to its children; the next one comes by itself. */
  kill: () => Promise<void>;
  freeze: () => void;
  thaw: () => void;
  /** SIGTERM, and the next one in its place with other settings (none: those of before). Resolves with how it ended. */
  replace: (settings?: Settings) => Promise<Ending>;
  /** SIGTERM and no successor. */
  stop: () => Promise<Ending>;
};

export type Ending = { code: number | null; signal: NodeJS.Signals | null; tookMs: number };

/** An end that no fault explains: a process that had started well and ended by itself, or did not end in order. */
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
/** In its log: it knows by then how to end in order, too. */
const startedLine = /"msg":"(web|workers|inbound) started"/;

/** Nothing of the caller's environment that could be a setting. */
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
    // A process that it started itself (the one that compiles MJML) ends with it, or is ended.
    await processes.endGroup(child);
    if (!isOpen) return fs.closeSync(log);
    await sleep(pauseMs);
    if (isOpen && !processes.isEnding()) current = start();
  }

  /** The first bytes that the process which is there now has written, or (a negative number) the last of the slot. */
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
