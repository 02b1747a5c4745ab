import { findRedisFault } from '../../../shared/queue/queue.ts';

/** Whether Redis takes jobs. */
export async function isRedisUp(): Promise<boolean> {
  return (await findRedisFault()) === null;
}
