import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as kept from '../kept.ts';
import { birth, isAlive, isStill } from './alive.ts';

/** Servers end after applications, because applications still write to them while they finish their work. */
type Kind = 'application' | 'server';

interface Group {
  kind: Kind;
  pid: number;
  born: string;
}

const kinds: Kind[] = ['application', 'server'];
const groups = new Map<number, Group>();
const applicationGraceMs = 80_000;
const serverGraceMs = 60_000;

let guard: ChildProcess | undefined;
let record: string | undefined;
let ending = false;

/** Starts the guard, which ends our groups if this process is killed with -9. */
export function startGuard(): number {
  if (!guard) {
    guard = spawn('/bin/sh', [path.join(import.meta.dirname, 'guard.sh')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guard.unref();
    guard.stdin?.on('error', () => undefined);
    (guard.stdin as Socket | null)?.unref();
  }
  return guard.pid ?? 0;
}

/**
 * Writes our groups to a file from now on, and ends the groups that a former run left in it because that run and its
 * guard were killed.
 */
export async function recordIn(file: string): Promise<void> {
  const leftovers = ((kept.read(file) ?? []) as Group[]).filter(({ pid, born }) => isStill(pid, born));
  for (const kind of kinds) await endGroups(leftovers.filter((group) => group.kind === kind));
  record = file;
  remember();
}

function remember(): void {
  startGuard();
  const all = [...groups.values()];
  const pids = kinds.map((kind) =>
    all.flatMap((group) => (group.kind === kind ? [group.pid] : [])).join(' '),
  );
  guard?.stdin?.write(`${pids.join('|')}\n`);
  if (record) kept.write(record, all);
}

/**
 * Starts a program as the leader of a process group of its own: ending it ends its children too, and Ctrl-C
 * in the terminal reaches this process only, which then ends everything in order.
 */
export function start(
  kind: Kind,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  if (ending) throw new Error('Ending; nothing is started any more');
  const child = spawn(command, args, { ...options, detached: true });
  child.on('error', () => undefined);
  if (child.pid !== undefined) {
    groups.set(child.pid, { kind, pid: child.pid, born: birth(child.pid) });
    remember();
  }
  return child;
}

export async function exitOf(child: ChildProcess): Promise<{ code: number | null; reason: string }> {
  if (child.pid === undefined) return { code: null, reason: 'could not be started' };
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => child.once('exit', resolve));
  const reason = child.signalCode ? `was ended by ${child.signalCode}` : `ended with code ${child.exitCode}`;
  return { code: child.exitCode, reason };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Sends SIGTERM, and SIGKILL after the grace time. */
async function endGroups(ended: readonly Group[]): Promise<void> {
  for (const { pid } of ended) signal(-pid, 'SIGTERM');
  const started = performance.now();
  for (const { pid, kind } of ended) {
    const graceMs = kind === 'server' ? serverGraceMs : applicationGraceMs;
    let killed = false;
    while (isAlive(-pid)) {
      const lateMs = performance.now() - started - graceMs;
      if (lateMs > 0 && !killed) signal(-pid, 'SIGKILL');
      killed = lateMs > 0;
      if (lateMs > 5_000) break;
      await delay(20);
    }
    groups.delete(pid);
  }
  if (guard) remember();
}

export async function endGroup(child: ChildProcess): Promise<void> {
  const group = child.pid === undefined ? undefined : groups.get(child.pid);
  if (group) await endGroups([group]);
}

export async function endAll(): Promise<void> {
  ending = true;
  for (const kind of kinds) await endGroups([...groups.values()].filter((group) => group.kind === kind));
}

export const isEnding = (): boolean => ending;

export function killAll(): void {
  for (const pid of groups.keys()) signal(-pid, 'SIGKILL');
}

/** Runs a program to its end; both its outputs in one text. */
export async function outputOf(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<{ code: number | null; output: string }> {
  const child = start('application', command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  if (child.pid !== undefined) await new Promise((resolve) => child.once('close', resolve));
  await endGroup(child);
  return { code: child.exitCode, output };
}

/** Makes `node` mean the Node of this process in every program that is started. */
export function withOwnNode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${path.dirname(process.execPath)}${path.delimiter}${env['PATH'] ?? ''}` };
}
