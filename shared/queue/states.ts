import { now } from '../common/clock.ts';
import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { producerConnection } from './connection.ts';
import { thisProcess } from './totals.ts';

/** The states that processes report of their gateways: in Redis, so that every process can show it. */

const key = `${config.QUEUE_PREFIX}:gateways`;
/** A process that has written nothing for this time is gone. */
const lifeMs = 10_000;

/** Some minutes of writes. */
const writesBetweenSweeps = 100;
let writes = 0;

export function writeGatewayStates(states: Record<string, object>): void {
  // Reading deletes the states of dead processes. If nobody else reads, they would stay for ever.
  if (writes % writesBetweenSweeps === 0) void readGatewayStates();
  writes += 1;
  const at = now().getTime();
  const fields = Object.entries(states).flatMap(([name, state]) => [
    `${name} ${thisProcess}`,
    JSON.stringify({ at, state }),
  ]);
  producerConnection()
    .hset(key, ...fields)
    .catch((error) => logger.debug({ err: error }, 'the states of gateways could not be written'));
}

/** Deletes the states of gateways that this process holds no more. */
export async function deleteGatewayStates(names: string[]): Promise<void> {
  await producerConnection()
    .hdel(key, ...names.map((name) => `${name} ${thisProcess}`))
    .catch((error) => logger.debug({ err: error }, 'the states of gateways could not be deleted'));
}

/** Returns a state for each gateway and process; null while Redis is away. */
export async function readGatewayStates(): Promise<{ name: string; state: unknown }[] | null> {
  try {
    const fields = Object.entries(await producerConnection().hgetall(key));
    const said = fields.map(([field, text]) => ({
      field,
      name: field.slice(0, field.indexOf(' ')),
      ...(JSON.parse(text) as { at: number; state: unknown }),
    }));
    const since = now().getTime() - lifeMs;
    const gone = said.filter(({ at }) => at < since).map(({ field }) => field);
    if (gone.length > 0) await producerConnection().hdel(key, ...gone);
    return said.filter(({ at }) => at >= since).map(({ name, state }) => ({ name, state }));
  } catch {
    return null;
  }
}
