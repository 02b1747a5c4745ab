import net from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { vi } from 'vitest';
import { waitFor } from '../time/wait-for.ts';

/** The state that files of a process share, except the database (test/support/database/database.ts). */
export type State = {
  settings: Record<string, unknown>;
  variables: Record<string, string | undefined>;
  globals: Map<string, unknown>;
  listeners: Map<string, number>;
  handles: Map<string, number>;
};

// The kinds of handles that stay open until somebody closes them. A timer or a file that is being read ends by itself.
const kept = ['TCPServerWrap', 'PipeWrap', 'ProcessWrap', 'UDPWrap', 'TTYWrap', 'FSEventWrap'];
// Tests that change the time or random numbers replace these.
const replaceable = [
  'Date',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch',
  'performance',
];
const closingMs = Number(process.env['TEST_CLOSING_MS'] ?? 10_000);

export async function stateNow(): Promise<State> {
  const { config } = await import('../../../shared/config/config.ts');
  return {
    settings: { ...config },
    variables: variablesNow(),
    globals: new Map(replaceable.map((name) => [name, Reflect.get(globalThis, name)])),
    listeners: listenersNow(),
    handles: handlesNow(),
  };
}

/**
 * Throws an error that lists everything that differs from `before`. Restores everything that it can, so that one
 * careless file does not make later files fail.
 */
export async function check(before: State): Promise<void> {
  const { config } = await import('../../../shared/config/config.ts');
  const faults: string[] = [];
  for (const name of changedIn(before.settings, config)) {
    faults.push(`the setting ${name} is changed: use changeSettings`);
    Object.assign(config, { [name]: before.settings[name] });
  }
  for (const name of changedIn(before.variables, variablesNow())) {
    faults.push(`the environment variable ${name} is changed: use changeSettings, or put it back with atEnd`);
    if (before.variables[name] === undefined) delete process.env[name];
    else process.env[name] = before.variables[name];
  }
  if (vi.isFakeTimers()) {
    faults.push('the timers are still fake: call vi.useRealTimers');
    vi.useRealTimers();
  }
  for (const [name, value] of before.globals)
    if (Reflect.get(globalThis, name) !== value) {
      faults.push(`the global ${name} is another one`);
      Reflect.set(globalThis, name, value);
    }
  for (const [name, count] of listenersNow())
    if (count > (before.listeners.get(name) ?? 0)) {
      faults.push(`the process has a listener for ${name} more`);
      before.listeners.set(name, count);
    }
  faults.push(...(await openHandles(before)));
  if (faults.length > 0)
    throw new Error(`The file leaves something behind for the next one in its process: ${faults.join('; ')}`);
}

/** Leaves out the variables of Vitest, which numbers its workers in some. */
function variablesNow(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
}

function changedIn(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

async function openHandles(before: State): Promise<string[]> {
  const { closeEverything } = await import('../../../shared/lifecycle.ts');
  const open = () => [...handlesNow()].filter(([type, count]) => count > (before.handles.get(type) ?? 0));
  // A handle that was closed a moment ago may need a turn of the event loop; late work may have connected again.
  const isClosed = async () => {
    if (open().length > 0 && process.env['TEST_PROJECT'] !== 'pure') await closeEverything();
    return open().length === 0;
  };
  await waitFor('handles are closed', isClosed, { timeoutMs: closingMs }).catch(() => undefined);
  return open().map(([type, count]) => {
    const fault = `${count} ${type} are open, ${before.handles.get(type) ?? 0} were before${peers()}`;
    before.handles.set(type, count);
    return fault;
  });
}

/** Returns where open connections lead, which helps to find the careless file. */
function peers(): string {
  const lines = connections().map((socket) => `${socket.localPort} to ${socket.remotePort}`);
  return lines.length > 0 ? ` (${lines.join(', ')})` : '';
}

/**
 * Returns the open connections, by a function that Node does not document. Connections to Redis are left out: a worker
 * of BullMQ that is closed while it connects sometimes leaves the connection open, and nobody listens to it any more.
 */
function connections(): net.Socket[] {
  const { _getActiveHandles } = process as unknown as { _getActiveHandles: () => object[] };
  const redisPort = Number(new URL(process.env['REDIS_URL'] ?? 'redis://none').port);
  return _getActiveHandles
    .call(process)
    .filter((handle) => handle instanceof net.Socket)
    .filter(({ remotePort }) => remotePort !== undefined && remotePort !== redisPort);
}

function handlesNow(): Map<string, number> {
  const counts = new Map([['connections', connections().length]]);
  for (const type of process.getActiveResourcesInfo())
    if (kept.includes(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

// A test has to remove its listeners for these events. 'exit' is left out, because loaded libraries listen for it.
const events = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'warning'];

function listenersNow(): Map<string, number> {
  return new Map(events.map((name) => [name, process.listenerCount(name)]));
}
