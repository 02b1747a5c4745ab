import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { request } from 'undici';
import * as procfile from '../../../scripts/setup/start/procfile.ts';
import { atEnd } from '../runner/at-end.ts';
import { waitFor } from '../time/wait-for.ts';
import { freePort } from './free-port.ts';

const root = join(import.meta.dirname, '../../..');

const web = procfile.read(join(root, 'Procfile')).find(({ name }) => name === 'web')!;

/** Returns the option of this name that the Procfile gives Node for web, with its value. */
function procfileOption(name: string): string {
  const option = procfile.partsOf(web).nodeOptions.find((each) => each.startsWith(`${name}=`));
  if (!option) throw new Error(`The Procfile gives web no ${name}`);
  return option;
}

const usualOptions = [
  // With less room for young objects (MB) V8 collects garbage for a tenth of the time that it loads the platform.
  '--min-semi-space-size=16',
  procfileOption('--max-semi-space-size'),
];

/**
 * How much memory large bodies take depends on this option. Only files that measure memory set it: with it
 * V8 cannot use the compiled code of the tests' processes, and a process compiles the platform for a second.
 */
export const freesBuffersEarly = [procfileOption('--scavenger-max-new-space-capacity-mb')];

/** Environment variables for one process, over those of the test file. */
export type Settings = Record<string, string>;
type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type PlatformProcess = {
  pid: number;
  /** Returns everything that the process has written, for the message of a failed test. */
  output: () => string;
  isRunning: () => boolean;
  exited: Promise<Exit>;
  /** SIGKILL: the process gets no chance to finish or write anything. */
  kill: () => Promise<Exit>;
  /** SIGTERM, and waits until the process has finished the work that it has begun. */
  stop: () => Promise<Exit>;
  /** SIGSTOP: the process hangs, with its connections open, until `thaw`. */
  freeze: () => void;
  thaw: () => void;
};

// A test process that ends early must not leave its children behind.
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a program of the platform (`api/server.ts`) with the database and the queues of this test file. */
export function startProcess(
  program: string,
  args: string[] = [],
  settings: Settings = {},
  nodeOptions: string[] = [],
): PlatformProcess {
  const { NODE_ENV: _, NODE_OPTIONS: __, PUBLIC_URL: ___, ...own } = process.env;
  const child = spawn(process.execPath, [...usualOptions, ...nodeOptions, program, ...args], {
    cwd: root,
    env: { ...own, LOG_LEVEL: 'info', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
  running.add(child);
  // 'close', unlike 'exit', comes only when the output has been read to its end.
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    running.delete(child);
    return { code, signal };
  });
  const send = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  atEnd(() => send('SIGKILL'));
  return {
    pid: child.pid as number,
    output: () => written.join(''),
    isRunning: () => running.has(child),
    exited,
    kill: () => send('SIGKILL'),
    stop: () => send('SIGTERM'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}

/** Starts a web process, and waits until it answers 200 at the path `readyAt`. */
export async function startWeb(
  settings: Settings = {},
  { readyAt = '/health/ready', nodeOptions = [] as string[] } = {},
): Promise<PlatformProcess & { url: string }> {
  const port = settings['PORT'] ?? String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const own = { BIND_ADDRESS: '127.0.0.1', ...settings, PORT: port };
  const web = startProcess('api/server.ts', [], own, nodeOptions);
  await becomes(web, `${url}${readyAt} answers 200`, async () => {
    const { statusCode, body } = await request(url + readyAt, { headersTimeout: 5_000 });
    await body.dump();
    return statusCode === 200;
  });
  return { ...web, url };
}

/** Starts a worker process for the jobs of these names, all of them by default. */
export async function startWorkerProcess(
  names: string[] = [],
  settings: Settings = {},
  { nodeOptions = [] as string[] } = {},
): Promise<PlatformProcess> {
  const worker = startProcess('workers/main.ts', names, settings, nodeOptions);
  await becomes(worker, 'the workers have started', () => worker.output().includes('workers started'));
  return worker;
}

/** Starts the process that takes bounces and complaints, and waits until it listens on `port`. */
export async function startInboundProcess(
  settings: Settings = {},
): Promise<PlatformProcess & { port: number }> {
  const port = await freePort();
  const inbound = startProcess('workers/inbound.ts', [], {
    INBOUND_BIND_ADDRESS: '127.0.0.1',
    INBOUND_PORT: String(port),
    ...settings,
  });
  await becomes(inbound, 'it listens', () => inbound.output().includes('inbound started'));
  return { ...inbound, port };
}

async function becomes(
  started: PlatformProcess,
  description: string,
  ask: () => boolean | Promise<boolean>,
): Promise<void> {
  try {
    // A process that fails to start ends, and the end of the process ends the wait.
    await waitFor(description, async () => (started.isRunning() ? ask() : true), { timeoutMs: 200_000 });
    if (!started.isRunning()) throw new Error(`It ended before ${description}`);
  } catch (error) {
    throw new Error(`${(error as Error).message}\nIt wrote:\n${started.output()}`, { cause: error });
  }
}
