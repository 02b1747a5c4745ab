import { isDatabaseUp } from '../../db/server/server.system.ts';
import { findRecentRedisFault, type RedisFault } from '../../queue/queue.ts';

/** `redisFault`: why Redis is down, where it says so itself. */
type Readiness = {
  ready: boolean;
  mysql: 'up' | 'down';
  redis: 'up' | 'down';
  redisFault?: RedisFault;
};

let checking: Promise<Readiness> | undefined;

/**
 * Returns the readiness, which depends on MySQL alone: without Redis, requests are still accepted, and done once it is
 * back. Callers at the same time share one check: anybody may ask, and each check takes a connection to the database.
 */
export function readiness(): Promise<Readiness> {
  checking ??= checkReadiness().finally(() => {
    checking = undefined;
  });
  return checking;
}

async function checkReadiness(): Promise<Readiness> {
  const [mysql, fault] = await Promise.all([isDatabaseUp(), findRecentRedisFault()]);
  return {
    ready: mysql,
    mysql: mysql ? 'up' : 'down',
    redis: fault === null ? 'up' : 'down',
    ...(fault !== null && fault !== 'UNREACHABLE' && { redisFault: fault }),
  };
}
