import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ThreadJob, ThreadResult } from './protocol.ts';
import type { Loss, Thread, ThreadEvents } from './thread-handle.ts';

const entry = fileURLToPath(new URL('./mjml-child.ts', import.meta.url));
/** The library takes a second to load, on a busy machine several. */
const startMs = 20_000;
/** After this many times its limit a process is killed, however little CPU time it got. */
const patience = 5;
/**
 * On a busy processor this process gets a third of the time of a normal one, so one customer's templates do not slow
 * the requests of others. With a lower priority, `patience` could end before a good template is compiled.
 */
const niceness = 5;

/**
 * Starts a process that compiles MJML. A thread would not be enough: mjml can turn a few kB into a gigabyte, in single
 * pieces, and V8 ends the whole process if a thread exceeds its heap limit by much.
 */
export function startMjmlProcess(heapMb: number, events: ThreadEvents): Thread {
  const child = forkConfined(entry, { heapMb, readable: readableProgram() });
  let ready = false;
  let killed = false;
  let jobs: ThreadJob[] = [];
  /** The index of the job that the process has. */
  let current = 0;
  let watched = { at: performance.now(), ms: 0, totalMs: 0, cpuMs: 0 };

  child.on('message', (message: 'ready' | ThreadResult) => {
    if (killed) return;
    if (message === 'ready') {
      ready = true;
      lowerPriority(child);
      events.ready();
      return;
    }
    current += 1;
    const following = jobs[current];
    events.results([message]);
    if (following && !killed) send(following);
  });
  child.on('error', (error) => {
    lose('crash', error);
    events.gone();
  });
  child.on('exit', (code, signal) => {
    // V8 aborts when there is no more memory; the signal depends on the machine.
    const isAborted = signal !== null && ['SIGABRT', 'SIGTRAP', 'SIGILL'].includes(signal);
    lose(isAborted || code === 134 ? 'out of memory' : 'crash');
    events.gone();
  });
  child.unref();
  child.channel?.unref();

  function lose(cause: Loss['cause'], error?: Error): void {
    if (killed) return;
    killed = true;
    events.lost({ cause, guilty: current, part: 0, ...(error ? { error } : {}) });
  }

  function kill(): void {
    child.kill('SIGKILL');
    lose('out of time');
  }

  // Sends one job at a time, so that it is known in which job the process died.
  function send(job: ThreadJob): void {
    watched = { at: performance.now(), ms: 0, totalMs: 0, cpuMs: cpuMsOf(child.pid) ?? 0 };
    child.send(job, () => {});
  }

  return {
    post(batch) {
      ({ jobs } = batch);
      current = 0;
      send(jobs[0]!);
    },

    watch(tickMs, jobMs) {
      if (killed || (ready && jobMs === undefined)) return;
      const now = performance.now();
      // If this process was late, the child may have had no processor either, so at most one tick counts.
      const passedMs = Math.min(now - watched.at, tickMs);
      watched = { ...watched, at: now, ms: watched.ms + passedMs, totalMs: watched.totalMs + passedMs };
      const limitMs = jobMs ?? startMs;
      if (watched.ms < limitMs) return;
      const isPatient = jobMs !== undefined && watched.totalMs < patience * limitMs;
      const cpuMs = isPatient ? cpuMsOf(child.pid) : undefined;
      if (cpuMs === undefined || cpuMs - watched.cpuMs >= limitMs) kill();
      else watched.ms = cpuMs - watched.cpuMs;
    },

    end() {
      killed = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      child.once('exit', () => resolve());
      // The process has ended already, or never started.
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) resolve();
      child.ref();
      child.kill('SIGKILL');
      return promise;
    },
  };
}

/**
 * Starts a process for customers' content. It can read only these paths (`/folder/*`: everything in the folder), writes
 * no files and starts no processes. It gets nothing from the server: no settings, no flags, and no input or output
 * except messages.
 */
export function forkConfined(
  entry: string,
  { heapMb, readable }: { heapMb: number; readable: readonly string[] },
): ChildProcess {
  return fork(entry, [], {
    env: {},
    // A library may look for its configuration here.
    cwd: dirname(entry),
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      '--disallow-code-generation-from-strings',
      '--permission',
      ...readable.map((path) => `--allow-fs-read=${path}`),
    ],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
}

/**
 * Returns the paths of the sandbox's code and of the libraries, wherever they are installed, but not of files beside
 * them, such as keys.
 */
export function readableProgram(): string[] {
  const library = fileURLToPath(import.meta.resolve('mjml'));
  const libraries = library.slice(0, library.lastIndexOf('node_modules') + 'node_modules'.length);
  const [sandbox, formats] = ['.', '../formats'].map((folder) =>
    fileURLToPath(new URL(folder, import.meta.url)).replace(/\/$/, ''),
  );
  return [`${sandbox}/*`, `${formats}/*`, `${libraries}/*`];
}

/** Lowers the priority of a process, which may have ended by now. */
function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // If the system does not allow it, the process runs like all others.
  }
}

const tickMs = 10;

/** Returns the CPU time that a process has had; undefined if the system does not report it. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return undefined;
  }
}
