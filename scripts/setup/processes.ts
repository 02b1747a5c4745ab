import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Servers end after applications, which still write to them while they finish what they have in hand. */
type Kind = 'application' | 'server';

const groups = new Map<number, Kind>();
let guard: ChildProcess | undefined;
let ending = false;

/** The guard ends our groups if this process is killed with -9. */
export function startGuard(): number | undefined {
  if (!guard) {
    guard = spawn('/bin/sh', [path.join(import.meta.dirname, 'guard.sh')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guard.unref();
    guard.stdin?.on('error', () => undefined);
    if (guard.stdin && 'unref' in guard.stdin) (guard.stdin as unknown as { unref(): void }).unref();
  }
  return guard.pid;
}

function tellGuard(): void {
  startGuard();
  const pids = (kind: Kind) => [...groups].flatMap(([pid, each]) => (each === kind ? [pid] : [])).join(' ');
  guard?.stdin?.write(`${pids('application')}|${pids('server')}\n`);
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
    groups.set(child.pid, kind);
    tellGuard();
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

/** A negative pid means its group. Where nobody collects ended orphans (many containers), they do not count. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || runningPids(pid).length > 0;
}

function runningPids(pid: number): string[] {
  const candidates = pid > 0 ? [String(pid)] : fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return candidates.filter((name) => {
    // pid (name) state parent group …; the name may hold anything, brackets too.
    const [state, , group] = readProc(name, 'stat')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state !== undefined && !'ZX'.includes(state) && (pid > 0 || group === String(-pid));
  });
}

function readProc(pid: string | number, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** SIGTERM, then after the grace SIGKILL. A negative pid means its group. */
export async function end(pid: number, graceMs: number): Promise<void> {
  signal(pid, 'SIGTERM');
  const started = performance.now();
  let killed = false;
  while (isAlive(pid)) {
    const waitedMs = performance.now() - started;
    if (waitedMs > graceMs && !killed) {
      killed = true;
      signal(pid, 'SIGKILL');
    }
    if (waitedMs > graceMs + 5_000) break;
    await delay(20);
  }
}

export async function endGroup(child: ChildProcess, graceMs = 40_000): Promise<void> {
  if (child.pid === undefined || !groups.has(child.pid)) return;
  await end(-child.pid, graceMs);
  groups.delete(child.pid);
  tellGuard();
}

export async function endAll(): Promise<void> {
  ending = true;
  for (const kind of ['application', 'server'] as const) {
    const pids = [...groups].flatMap(([pid, each]) => (each === kind ? [pid] : []));
    await Promise.all(pids.map(async (pid) => end(-pid, 40_000)));
    for (const pid of pids) groups.delete(pid);
  }
  if (guard) tellGuard();
}

export const isEnding = (): boolean => ending;

export function killAll(): void {
  for (const pid of groups.keys()) signal(-pid, 'SIGKILL');
}

/** The command line of a process, or '' when there is none or it is not ours to see. */
export async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readProc(pid, 'cmdline').replaceAll('\0', ' ');
  return (await outputOf('ps', ['-o', 'command=', '-p', String(pid)])).output;
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
  const closed = child.pid === undefined ? undefined : new Promise((resolve) => child.once('close', resolve));
  await closed;
  await endGroup(child);
  return { code: child.exitCode, output };
}

/** The Node that runs this one is the Node that `node` means in whatever is started. */
export function withOwnNode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${path.dirname(process.execPath)}${path.delimiter}${env['PATH'] ?? ''}` };
}
