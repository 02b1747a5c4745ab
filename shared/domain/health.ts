import { isDatabaseUp } from '../db/system/server.ts';
import { isRedisUp } from '../queue.ts';

export type Readiness = { ready: boolean; mysql: 'up' | 'down'; redis: 'up' | 'down' };

/** Ready means MySQL: without Redis requests are accepted all the same, and done once it is back. */
export async function readiness(): Promise<Readiness> {
  const [mysql, redis] = await Promise.all([isDatabaseUp(), isRedisUp()]);
  return { ready: mysql, mysql: mysql ? 'up' : 'down', redis: redis ? 'up' : 'down' };
}
