import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import { freePort } from '../support/processes/free-port.ts';
import {
  type PlatformProcess,
  startInboundProcess,
  startWeb,
  startWorkerProcess,
} from '../support/processes/processes.ts';

const watch = pathToFileURL(path.join(import.meta.dirname, '../support/processes/loop-watch.mjs')).href;
/** Well above the need of any process, and far below the size of a leak in a long run. */
const mostMemoryMb = 700;

/** A process under test, and its own measurements. */
export type Subject = {
  name: string;
  process: PlatformProcess;
  /** Returns the longest block of the event loop since the last call, in CPU time of the main thread. */
  heldMs: () => Promise<number>;
};

/** Starts the processes that strangers can reach, and a worker for their requests. */
export async function startPlatform(smtpUrl: string) {
  async function watched<Process extends PlatformProcess>(
    name: string,
    start: (own: Record<string, string>) => Promise<Process>,
  ): Promise<Subject & { process: Process }> {
    const port = String(await freePort());
    const started = await start({ NODE_OPTIONS: `--import ${watch}`, LOOP_WATCH_PORT: port });
    const heldMs = async () => Number(await (await request(`http://127.0.0.1:${port}/`)).body.text());
    // The work at the start delays no request, so this call discards it.
    await heldMs();
    return { name, process: started, heldMs };
  }
  const [web, inbound, worker] = await Promise.all([
    watched('web', (own) => startWeb(own)),
    watched('inbound', (own) => startInboundProcess(own)),
    watched('worker', (own) =>
      startWorkerProcess(['send-email', 'relay-events', 'sweep'], { ...own, SMTP_URL: smtpUrl }),
    ),
  ]);
  return { web, inbound, worker, subjects: [web, inbound, worker] as Subject[] };
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

export function memoryMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Returns the faults of the processes that no answer shows: an ended process, too much memory. */
export function faultsOfProcesses({ subjects }: Platform): string[] {
  return subjects.flatMap(({ name, process }) => {
    if (!process.isRunning()) return [`${name} has ended:\n${process.output().slice(-2_000)}`];
    const memory = memoryMb(process.pid);
    return memory > mostMemoryMb ? [`${name} has ${memory.toFixed(0)} MB, and may have ${mostMemoryMb}`] : [];
  });
}

const errorLevel = 50;

/** Returns the log lines at the level of errors: no input of a stranger may cause an internal error. */
export function errorsIn(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const { level, msg, err } = JSON.parse(line);
    return level >= errorLevel ? [`${msg}: ${err?.stack ?? err?.message ?? line}`.slice(0, 1_000)] : [];
  });
}
