import { randomBytes } from 'node:crypto';
import { afterAll } from 'vitest';
import { endAll } from './at-end.ts';
import { newDatabaseName, serverDatabaseName } from './database-name.ts';

/**
 * Runs before the imports of each test file and gives the file a world of its own: a database name, a prefix for
 * its Redis keys, a secret key. It only names them, so a test of a pure function touches no server. TEST_LOG=debug
 * shows what the product logs in the tests' own processes.
 *
 * It must never import shared/config.ts, which takes the settings once, when it is first imported. A file that needs
 * other settings from the start says so above its imports, in `vi.hoisted(() => …)`; `changeSettings` does it later.
 */
const { env } = process;

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
  SWEEP_SECONDS: '0.3',
  SHUTDOWN_SECONDS: '10',
  // Nothing listens there: what a developer has exported must not make a test send mail or ask for names for real.
  SMTP_URL: 'smtp://127.0.0.1:1',
  DNS_SERVERS: '127.0.0.1:1',
  // Blank is not set.
  PORT: '',
  PUBLIC_URL: '',
  OPS_PASSWORD: '',
  WEBHOOK_LOCAL_ADDRESS: '',
  RETURN_PATH_DOMAIN: '',
  SPF_INCLUDE: '',
  TEST_SENDER: '',
});

afterAll(endAll);
