import mysql from 'mysql2/promise';
import { onTestFinished } from 'vitest';
import { config } from '../../../shared/config/config.ts';

/** Nobody reads or writes the table until what this returns is called, or the test ends: statements that would, wait. */
export async function lockTable(name: string): Promise<() => Promise<void>> {
  const locker = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => locker.destroy());
  await locker.query(`LOCK TABLES ${name} WRITE`);
  return async () => {
    await locker.query('UNLOCK TABLES');
    await locker.end();
  };
}
