import { randomBytes } from 'node:crypto';
import { addressOf } from '../servers/tcp-proxy.ts';

type Own = { url: string; query: (sql: string, values?: unknown[]) => Promise<any[]> };

/** Makes the second server a replica of the first. Each was started with its own `optionsOf`. */
export async function replicate(primary: Own, replica: Own) {
  const [{ version }] = (await primary.query('SELECT VERSION() AS version')) as [{ version: string }];
  const say = version.includes('MariaDB') ? mariadb : mysql;
  const position = async () => {
    const [{ File: file, Position: offset }] = (await primary.query(say.status)) as [
      { File: string; Position: number },
    ];
    return [file, offset] as const;
  };
  const { host, port } = addressOf(primary.url);
  // MySQL allows at most 32 characters in a password for replication.
  const password = randomBytes(16).toString('hex');
  const user = "'replica'@'127.0.0.1'";
  await primary.query(`CREATE USER ${user} IDENTIFIED BY '${password}'`);
  await primary.query(`GRANT REPLICATION SLAVE ON *.* TO ${user}`);
  await replica.query('SET GLOBAL read_only = 1');
  await replica.query(say.follow, [host, port, 'replica', password, ...(await position())]);
  await replica.query(`START ${say.replica}`);
  return {
    /**
     * A planned switch: the old primary takes no more writes. The replica takes writes once it has all of the primary's
     * changes. Connections to the old primary stay open.
     */
    switchOver: async () => {
      await primary.query('SET GLOBAL read_only = 1');
      const [row] = await replica.query(`SELECT ${say.wait}(?, ?, 60) AS events`, [...(await position())]);
      if (row.events === null || row.events < 0) throw new Error('The replica did not catch up');
      await replica.query(`STOP ${say.replica}`);
      await replica.query('SET GLOBAL read_only = 0');
    },
  };
}

/** Returns the options to start one server of a primary and replica pair. */
export const optionsOf = (serverId: number) => [`--server-id=${serverId}`, '--log-bin=binlog'];

const mariadb = {
  status: 'SHOW MASTER STATUS',
  follow: `CHANGE MASTER TO MASTER_HOST = ?, MASTER_PORT = ?, MASTER_USER = ?, MASTER_PASSWORD = ?,
    MASTER_LOG_FILE = ?, MASTER_LOG_POS = ?`,
  replica: 'SLAVE',
  wait: 'MASTER_POS_WAIT',
};
const mysql = {
  status: 'SHOW BINARY LOG STATUS',
  follow: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
    SOURCE_LOG_FILE = ?, SOURCE_LOG_POS = ?, GET_SOURCE_PUBLIC_KEY = 1`,
  replica: 'REPLICA',
  wait: 'SOURCE_POS_WAIT',
};
