import { randomBytes } from 'node:crypto';
import { addressOf } from '../servers/tcp-proxy.ts';
import { waitFor } from '../time/wait-for.ts';

type Own = { url: string; query: (sql: string, values?: unknown[]) => Promise<any[]> };

/**
 * Makes the second server a replica of the first. Each was started with its own `optionsOf`. `through`: a proxy between
 * the two. A semi-synchronous primary acknowledges no commit before the replica has it.
 */
export async function replicate(
  primary: Own,
  replica: Own,
  {
    isSemiSynchronous = false,
    through = primary,
  }: { isSemiSynchronous?: boolean; through?: { url: string } } = {},
) {
  const [{ version }] = (await primary.query('SELECT VERSION() AS version')) as [{ version: string }];
  const say = version.includes('MariaDB') ? mariadb : mysql;
  const position = async () => {
    const [{ File: file, Position: offset }] = (await primary.query(say.status)) as [
      { File: string; Position: number },
    ];
    return [file, offset] as const;
  };
  const statusOf = async (name: 'clients' | 'wait_sessions') => {
    const [row] = await primary.query(`SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_%_${name}'`);
    return Number(row.Value);
  };
  const { host, port } = addressOf(through.url);
  // MySQL allows at most 32 characters in a password for replication.
  const password = randomBytes(16).toString('hex');
  const user = "'replica'@'127.0.0.1'";
  await primary.query(`CREATE USER ${user} IDENTIFIED BY '${password}'`);
  await primary.query(`GRANT REPLICATION SLAVE ON *.* TO ${user}`);
  if (isSemiSynchronous) {
    await primary.query(say.waitForReplica);
    await replica.query(say.acknowledge);
  }
  await replica.query('SET GLOBAL read_only = 1');
  await replica.query(say.follow, [host, port, 'replica', password, ...(await position())]);
  await replica.query(`START ${say.replica}`);
  // A commit of an account blocks all logins of MySQL, also that of the replica which must acknowledge the commit.
  if (isSemiSynchronous)
    await waitFor('the replica acknowledges commits', async () => (await statusOf('clients')) === 1);
  const untilApplied = async (place: readonly [file: string, offset: number]) => {
    const [row] = await replica.query(`SELECT ${say.wait}(?, ?, 60) AS events`, [...place]);
    if (row.events === null || row.events < 0) throw new Error('The replica did not catch up');
  };
  const takeOver = async () => {
    await replica.query(`STOP ${say.replica}`);
    await replica.query('SET GLOBAL read_only = 0');
  };
  return {
    /** The replica goes on receiving changes, and does not apply them. */
    stopApplying: () => replica.query(`STOP ${say.replica} SQL_THREAD`),
    /** How many commits of the primary wait for the replica. */
    commitsWaiting: () => statusOf('wait_sessions'),
    /** A failover: the primary is lost. The replica applies all that it has received, then takes writes. */
    failOver: async () => {
      await replica.query(`STOP ${say.replica} IO_THREAD`);
      await replica.query(`START ${say.replica} SQL_THREAD`);
      const [row] = await replica.query(`SHOW ${say.replica} STATUS`);
      await untilApplied([row[say.received.file], row[say.received.offset]]);
      await takeOver();
    },
    /**
     * A planned switch: the old primary takes no more writes. The replica takes writes once it has all of the primary's
     * changes. Connections to the old primary stay open.
     */
    switchOver: async () => {
      await primary.query('SET GLOBAL read_only = 1');
      await untilApplied(await position());
      await takeOver();
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
  received: { file: 'Master_Log_File', offset: 'Read_Master_Log_Pos' },
  waitForReplica: `SET GLOBAL rpl_semi_sync_master_wait_point = 'AFTER_SYNC', GLOBAL rpl_semi_sync_master_timeout = 600000,
    GLOBAL rpl_semi_sync_master_enabled = 1`,
  acknowledge: 'SET GLOBAL rpl_semi_sync_slave_enabled = 1',
};
const mysql = {
  status: 'SHOW BINARY LOG STATUS',
  follow: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
    SOURCE_LOG_FILE = ?, SOURCE_LOG_POS = ?, GET_SOURCE_PUBLIC_KEY = 1`,
  replica: 'REPLICA',
  wait: 'SOURCE_POS_WAIT',
  received: { file: 'Source_Log_File', offset: 'Read_Source_Log_Pos' },
  waitForReplica: `INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so';
    SET GLOBAL rpl_semi_sync_source_wait_point = 'AFTER_SYNC', GLOBAL rpl_semi_sync_source_timeout = 600000,
    GLOBAL rpl_semi_sync_source_enabled = 1`,
  acknowledge: `INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so';
    SET GLOBAL rpl_semi_sync_replica_enabled = 1`,
};
