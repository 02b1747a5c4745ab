import { randomBytes } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDatabaseName, serverDatabaseName } from '../database/database-name.ts';
import { beginActions, endAll } from '../runner/at-end.ts';
import * as leftBehind from '../runner/left-behind.ts';

/**
 * The world of a test process: a database name, a prefix for its Redis keys, a secret key. No server is used
 * here, so a test of a pure function touches no server. Files that share a process (test/support/runner/projects.ts)
 * use one world after the other. TEST_LOG=debug shows the product's log in the tests' own processes.
 *
 * A file that needs other settings from the start says so above its imports, in `vi.hoisted(() => …)`, and so gets a
 * process of its own; `changeSettings` changes them later.
 */
const { env } = process;
const isAlone = env.TEST_PROJECT === 'apart';

let hasNames = false;
let before: leftBehind.State | undefined;
let closing: Promise<void> | undefined;
const closingLimitMs = 60_000;

/** Opens a test file and returns the function that closes it. */
export async function openFile(): Promise<() => Promise<void>> {
  // The file before may have failed at the time limit of its last hook, and may still close things that this file uses.
  if (closing) await Promise.race([closing.catch(() => undefined), sleep(closingLimitMs, 0, { ref: false })]);
  if (!hasNames) giveNames();
  hasNames = true;
  // shared/config/config.ts reads the settings at its first import, and a file with its own process may still set some.
  if (!isAlone) before ??= await leftBehind.stateNow();
  const actions = beginActions();
  return () => (closing = closeFile(actions));
}

/** Undoes the setup of the file. The file fails if it leaves something behind that could disturb the next one. */
async function closeFile(actions: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  // The pool ends this process by a signal, at which Node saves no compile cache: in a fresh checkout, all processes
  // would compile the same code again.
  flushCompileCache();
  await endAll(actions).catch((error) => failures.push(error));
  if (before) await leftBehind.check(before).catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

function giveNames(): void {
  if (env.MYSQL_URL) {
    const url = new URL(env.MYSQL_URL);
    const name = newDatabaseName(serverDatabaseName(url));
    url.pathname = `/${name}`;
    env.MYSQL_URL = url.href;
    env.QUEUE_PREFIX = `{${name}}`;
  }
  Object.assign(env, {
    SECRET_KEY: `test:${randomBytes(32).toString('hex')}`,
    CLOCK_SHIFTABLE: 'true',
    LOG_LEVEL: env.TEST_LOG || 'silent',
    RATE_LIMIT_PER_SECOND: '0',
    WORKSPACE_RATE_LIMIT_PER_SECOND: '0',
    AUTH_FAILURES_PER_MINUTE: '0',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    // A test waits for a sweep or two. Each sweep takes 15 ms of CPU time from the tests that run beside it.
    SWEEP_SECONDS: '0.6',
    SHUTDOWN_SECONDS: '10',
    // Nothing listens there: a developer's own settings must not make a test send real mail or ask real name servers.
    SMTP_URL: 'smtp://127.0.0.1:1',
    DNS_SERVERS: '127.0.0.1:1',
    // A blank value counts as not set.
    PORT: '',
    PUBLIC_URL: '',
    OPS_PASSWORD: '',
    WEBHOOK_LOCAL_ADDRESS: '',
    RETURN_PATH_DOMAIN: '',
    SPF_INCLUDE: '',
    TEST_SENDER: '',
  });
}
