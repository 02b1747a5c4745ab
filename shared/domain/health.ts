import { isDatabaseUp } from '../db/system/server.ts';
import { findRedisFault, type RedisFault } from '../queue.ts';

/** `redisFault`: why Redis is down, where it says so itself. */
export type Readiness = {
  ready: boolean;
  mysql: 'up' | 'down';
  redis: 'up' | 'down';
  redisFault?: RedisFault;
};

let looking: Promise<Readiness> | undefined;

/**
 * Ready means MySQL: without Redis requests are accepted all the same, and done once it is back. All who ask at the same
 * time share one look: anybody may ask, and each look takes a connection to the database.
 */
export function readiness(): Promise<Readiness> {
  looking ??= look().finally(() => {
    looking = undefined;
  });
  return looking;
}

async function look(): Promise<Readiness> {
  const [mysql, fault] = await Promise.all([isDatabaseUp(), recentRedisFault()]);
  return {
    ready: mysql,
    mysql: mysql ? 'up' : 'down',
    redis: fault === null ? 'up' : 'down',
    ...(fault !== null && fault !== 'UNREACHABLE' && { redisFault: fault }),
  };
}

// Looking writes: those who ask one after the other share that as well.
const keptMs = 1_000;
let found: { fault: Promise<RedisFault | null>; at: number } | undefined;

function recentRedisFault(): Promise<RedisFault | null> {
  if (!found || performance.now() - found.at >= keptMs)
    found = { fault: findRedisFault(), at: performance.now() };
  return found.fault;
}
