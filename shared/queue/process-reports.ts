import { hostname } from 'node:os';
import { now } from '../common/clock.ts';
import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { producerConnection } from './connection.ts';

export const thisProcess = `${hostname()}-${process.pid}`;
/** A process that has written nothing for this time is gone. */
const lifeMs = 10_000;

type Reported<State> = { at: number; state: State };

/**
 * States that each process reports of itself, by name. They are in one hash of Redis, so that each process can show the
 * states of all. `codec`: the text of a report.
 */
export function processReports<State>(
  hash: string,
  {
    writesBetweenSweeps,
    codec,
  }: {
    writesBetweenSweeps: number;
    codec: { stringify: (report: Reported<State>) => string; parse: (text: string) => Reported<State> };
  },
) {
  const key = `${config.QUEUE_PREFIX}:${hash}`;
  const fieldOf = (name: string) => `${name} ${thisProcess}`;
  let writes = 0;

  /** Returns a state for each name and process; null while Redis is away. */
  async function read(): Promise<{ name: string; state: State }[] | null> {
    try {
      const fields = Object.entries(await producerConnection().hgetall(key));
      const reports = fields.map(([field, text]) => ({ field, ...codec.parse(text) }));
      const since = now().getTime() - lifeMs;
      const gone = reports.filter(({ at }) => at < since).map(({ field }) => field);
      if (gone.length > 0) await producerConnection().hdel(key, ...gone);
      return reports
        .filter(({ at }) => at >= since)
        .map(({ field, state }) => ({ name: field.slice(0, field.indexOf(' ')), state }));
    } catch {
      return null;
    }
  }

  function write(states: [name: string, state: State][]): void {
    // Reading deletes the states of dead processes. If nobody else reads, they would stay for ever.
    if (writes % writesBetweenSweeps === 0) void read();
    writes += 1;
    const at = now().getTime();
    const fields = states.flatMap(([name, state]) => [fieldOf(name), codec.stringify({ at, state })]);
    producerConnection()
      .hset(key, ...fields)
      .catch((error) => logger.debug({ err: error, hash }, 'reports of this process could not be written'));
  }

  /** Deletes the states that this process has reported by these names. */
  async function remove(names: string[]): Promise<void> {
    await producerConnection()
      .hdel(key, ...names.map(fieldOf))
      .catch((error) => logger.debug({ err: error, hash }, 'reports of this process could not be deleted'));
  }

  return { read, write, remove };
}
