import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { producerConnection } from '../queue/queue.ts';

/**
 * Which API keys there are, as far as Redis has been told: enough to tell a customer's key from one that somebody made
 * up, without the database. It says nothing of whether a key is still good. Keys that Redis has lost are noted again.
 */

const keptSeconds = 7 * 86_400;
/** The start of a hash: too little to find a key with, and enough that no other has the same. */
const nameOf = (hash: Buffer) => `${config.QUEUE_PREFIX}:known:${hash.toString('base64url', 0, 12)}`;

/** Best effort: whoever waits for nothing here goes on at once. */
export function note(hash: Buffer): void {
  producerConnection()
    .set(nameOf(hash), 1, 'EX', keptSeconds)
    .catch((error) => logger.debug({ err: error }, 'a key could not be noted'));
}

/** False, too, where Redis is away. */
export async function isNoted(hash: Buffer): Promise<boolean> {
  const answer = producerConnection().exists(nameOf(hash));
  return answer.then(
    (found) => found === 1,
    () => false,
  );
}
