import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { config } from '../../../shared/config/config.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';

const pollEveryMs = 100;
/** A statement waits 5 seconds for a lock. Waits of statements of the work for each other are over sooner. */
const mostPolls = 10;

/**
 * The connections to the database of this file whose transactions wait for a lock. From the text that InnoDB writes: it
 * makes its tables of transactions anew only when nobody has read them for a while, and other files read them too.
 */
export async function watchLockWaits() {
  const connection = await mysql.createConnection({ uri: config.MYSQL_URL });
  const rowsOf = async (sql: string) => (await connection.query<mysql.RowDataPacket[]>(sql))[0];
  return {
    look: async (): Promise<number[]> => {
      const [status] = await rowsOf('SHOW ENGINE INNODB STATUS');
      const waiting = String(status!['Status'])
        .split('---TRANSACTION ')
        // Before the first it tells of the latest deadlock, and of those who waited then.
        .slice(1)
        .filter((transaction) => transaction.includes('LOCK WAIT'))
        .map((transaction) => Number(/thread id (\d+)/.exec(transaction)?.[1]));
      const own = await rowsOf(`SELECT id FROM ${processlist} WHERE db = DATABASE()`);
      return own.map(({ id }) => Number(id)).filter((id) => waiting.includes(id));
    },
    close: () => connection.end(),
  };
}

/**
 * Does the work, and fails if a statement of it waits for a lock that another transaction holds meanwhile. Counts how
 * often one is seen waiting, not for how long: on a busy machine all takes long. Returns what the work does.
 */
export async function withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
  const waits = await watchLockWaits();
  const seen = new Map<number, number>();
  let isDone = false;
  try {
    const result = work().finally(() => (isDone = true));
    // After enough looks nobody waits for it any more.
    result.catch(() => undefined);
    while (!isDone) {
      await Promise.race([result, sleep(pollEveryMs)]);
      for (const id of isDone ? [] : await waits.look()) seen.set(id, (seen.get(id) ?? 0) + 1);
      if (Math.max(0, ...seen.values()) >= mostPolls) throw new Error('The work waits for a lock');
    }
    return await result;
  } finally {
    await waits.close();
  }
}
