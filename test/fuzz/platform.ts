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
/** Well above what any of them needs, and far below what a leak takes in a long run. */
const mostMemoryMb = 700;

/** A process under test, and what it says of itself. */
export type Subject = {
  name: string;
  process: PlatformProcess;
  /** The longest that its event loop was held since it was asked last, in CPU time of its main thread. */
  heldMs: () => Promise<number>;
};

/** The processes that strangers reach, and one that works on what they have sent. */
export async function startPlatform(smtpUrl: string) {
  async function watched<Process extends PlatformProcess>(
    name: string,
    start: (own: Record<string, string>) => Promise<Process>,
  ): Promise<Subject & { process: Process }> {
    const port = String(await freePort());
    const started = await start({ NODE_OPTIONS: `--import ${watch}`, LOOP_WATCH_PORT: port });
    const heldMs = async () => Number(await (await request(`http://127.0.0.1:${port}/`)).body.text());
    // The work at its start holds nobody up, so it does not count.
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

/** The faults of the processes themselves, whatever they were asked. */
export function faultsOfProcesses({ subjects }: Platform): string[] {
  return subjects.flatMap(({ name, process }) => {
    if (!process.isRunning()) return [`${name} has ended:\n${process.output().slice(-2_000)}`];
    const memory = memoryMb(process.pid);
    return memory > mostMemoryMb ? [`${name} has ${memory.toFixed(0)} MB, and may have ${mostMemoryMb}`] : [];
  });
}

const errorLevel = 50;

/** Lines at the level of errors: no input of a stranger is a fault of ours. */
export function errorsIn(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const { level, msg, err } = JSON.parse(line);
    return level >= errorLevel ? [`${msg}: ${err?.stack ?? err?.message ?? line}`.slice(0, 1_000)] : [];
  });
}
