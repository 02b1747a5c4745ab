import { Worker } from 'node:worker_threads';
import { closeAtEnd } from '../common/closing.ts';
import { problem } from '../common/errors.ts';
import { logger } from '../common/logger.ts';
import type { DkimKey } from '../formats/email/dkim.ts';

/**
 * An RSA key takes a tenth of a second of CPU time, and sometimes a whole second. So keys are made one at a time, in a
 * thread of low priority. The thread pool stays free for the files, names and signatures of other requests.
 */

type KeyRequest = { workspaceId: string; resolve: (key: DkimKey) => void; reject: (reason: unknown) => void };

const mostPerWorkspace = 10;
const mostWaiting = 100;
const retryAfterSeconds = 3;
/** An idle thread ends after this time, and frees its 10 MB. */
const idleMs = 10_000;

/** Waiting requests by workspace; the first workspace has the next turn. */
const waiting = new Map<string, KeyRequest[]>();
let running: KeyRequest | undefined;
let thread: Worker | undefined;
let idle: NodeJS.Timeout | undefined;

/**
 * Makes a new key when its turn has come; workspaces take turns. Throws a Problem if too many requests wait already.
 */
export async function generateInTurn(workspaceId: string): Promise<DkimKey> {
  const own = waiting.get(workspaceId) ?? [];
  if (own.length + (running?.workspaceId === workspaceId ? 1 : 0) >= mostPerWorkspace)
    throw problem('rate_limited', {
      detail: `At most ${mostPerWorkspace} keys of a workspace are made at a time`,
      retryAfterSeconds,
    });
  const all = [...waiting.values()].reduce((sum, { length }) => sum + length, 0);
  if (all >= mostWaiting)
    throw problem('service_unavailable', { detail: 'Too many keys are being made', retryAfterSeconds });
  return new Promise((resolve, reject) => {
    own.push({ workspaceId, resolve, reject });
    waiting.set(workspaceId, own);
    startNext();
  });
}

function startNext(): void {
  if (running) return;
  const [next] = waiting;
  if (!next) return rest();
  const [workspaceId, own] = next;
  // The other requests of this workspace go behind the workspaces that wait now.
  waiting.delete(workspaceId);
  running = own.shift()!;
  if (own.length > 0) waiting.set(workspaceId, own);
  clearTimeout(idle);
  thread ??= start();
  // The thread keeps the process alive only while somebody waits for a key.
  thread.ref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  thread.postMessage(null);
}

function rest(): void {
  thread?.unref();
  clearTimeout(idle);
  idle = setTimeout(() => void close(), idleMs).unref();
}

function start(): Worker {
  closeAtEnd(close);
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    name: 'keys',
    env: {},
    argv: [],
    execArgv: [],
  });
  worker.on('message', (key: DkimKey) => settle((one) => one.resolve(key)));
  worker.on('error', (error) => logger.error({ err: error }, 'the thread that makes keys has failed'));
  worker.on('exit', () => {
    if (thread !== worker) return;
    thread = undefined;
    fail();
  });
  return worker;
}

function settle(how: (one: KeyRequest) => void): void {
  const one = running;
  running = undefined;
  if (one) how(one);
  startNext();
}

const failed = () =>
  problem('service_unavailable', { detail: 'The key could not be made', retryAfterSeconds });

function fail(): void {
  settle((one) => one.reject(failed()));
}

/** Ends the thread and rejects all requests. A caller that comes meanwhile gets another thread. */
async function close(): Promise<void> {
  const open = thread;
  thread = undefined;
  const left = [...waiting.values()].flat();
  waiting.clear();
  for (const { reject } of left) reject(failed());
  fail();
  await open?.terminate();
}
