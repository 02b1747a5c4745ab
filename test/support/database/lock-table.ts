import mysql from 'mysql2/promise';
import { onTestFinished } from 'vitest';
import { config } from '../../../shared/config/config.ts';

/** Locks the table until the returned function is called or the test ends. Statements that read or write it wait. */
export async function lockTable(name: string): Promise<() => Promise<void>> {
  const locker = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => locker.destroy());
  await locker.query(`LOCK TABLES ${name} WRITE`);
  return async () => {
    await locker.query('UNLOCK TABLES');
    await locker.end();
  };
}
