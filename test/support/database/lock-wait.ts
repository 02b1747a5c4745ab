import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { config } from '../../../shared/config/config.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';

const pollEveryMs = 100;
/** A statement waits 5 seconds for a lock. When statements of the work wait for each other, the wait is shorter. */
const mostPolls = 10;

/**
 * Finds the connections to this file's database whose transactions wait for a lock (`look`), or are open and do not wait
 * (`lookAtOthers`), in InnoDB's status text: InnoDB refreshes its tables of transactions only when nobody has read them
 * for a while, and other files read them too.
 */
export async function watchLockWaits() {
  const connection = await mysql.createConnection({ uri: config.MYSQL_URL });
  const rowsOf = async (sql: string) => (await connection.query<mysql.RowDataPacket[]>(sql))[0];
  const find = async (isWanted: (transaction: string) => boolean): Promise<number[]> => {
    const [status] = await rowsOf('SHOW ENGINE INNODB STATUS');
    const found = String(status!['Status'])
      .split('---TRANSACTION ')
      // The text before the first transaction is about the latest deadlock and its waits.
      .slice(1)
      .filter(isWanted)
      .map((transaction) => Number(/thread id (\d+)/.exec(transaction)?.[1]));
    const own = await rowsOf(`SELECT id FROM ${processlist} WHERE db = DATABASE()`);
    return own.map(({ id }) => Number(id)).filter((id) => found.includes(id));
  };
  const isWaiting = (transaction: string) => transaction.includes('LOCK WAIT');
  return {
    look: () => find(isWaiting),
    lookAtOthers: () => find((transaction) => /^\d+, ACTIVE/.test(transaction) && !isWaiting(transaction)),
    close: () => connection.end(),
  };
}

/**
 * Does the work and returns its result. Fails if a statement of the work waits for a lock that another transaction
 * holds meanwhile. Counts how often a wait is seen, not how long it lasts: on a busy machine everything takes long.
 */
export async function withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
  const waits = await watchLockWaits();
  const seen = new Map<number, number>();
  let isDone = false;
  try {
    const result = work().finally(() => (isDone = true));
    // When the loop below throws, nobody awaits `result` any more, so its rejection is handled here.
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
