import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { producerConnection } from '../queue/queue.ts';

/**
 * Notes in Redis which API keys exist. With this a process can tell a customer's key from an invented one without the
 * database. A noted key may still be invalid. Keys that Redis has lost are noted again.
 */

const keptSeconds = 7 * 86_400;
/** Uses only the start of a hash: nobody can find a key with it, but no other key has the same start. */
const nameOf = (hash: Buffer) => `${config.QUEUE_PREFIX}:known:${hash.toString('base64url', 0, 12)}`;

/** Notes a key. This is best effort, and the caller does not wait. */
export function note(hash: Buffer): void {
  producerConnection()
    .set(nameOf(hash), 1, 'EX', keptSeconds)
    .catch((error) => logger.debug({ err: error }, 'an API key could not be noted in Redis'));
}

/** Whether the key is noted; false also while Redis is away. */
export async function isNoted(hash: Buffer): Promise<boolean> {
  const answer = producerConnection().exists(nameOf(hash));
  return answer.then(
    (found) => found === 1,
    () => false,
  );
}
