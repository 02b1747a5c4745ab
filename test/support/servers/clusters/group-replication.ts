import { randomBytes, randomUUID } from 'node:crypto';
import * as kept from '../../../../scripts/setup/kept.ts';
import { findOracleMysql } from '../../../../scripts/setup/servers/programs.ts';
import { newDatabaseName } from '../../database/database-name.ts';
import { waitFor } from '../../time/wait-for.ts';
import { type OwnMysql, ownFolder, startOwnMysql } from '../own-servers.ts';

/** A member of a group in which all members have the same rows and only one, the primary, takes writes. */
export type Member = OwnMysql & {
  /**
   * Waits until the member has everything that the others have. A member that the group has expelled joins again here.
   * A started member joins only here: until then it takes writes that no other has, as does one that cannot join.
   */
  untilJoined: () => Promise<void>;
  /** Tells whether this member is the primary, and its group agrees. */
  isPrimary: () => Promise<boolean>;
  /** Returns how many transactions of the others it must still apply. As primary it takes no writes before that. */
  backlog: () => Promise<number>;
  /** A planned switch: this member takes the place of the primary. */
  becomePrimary: () => Promise<void>;
};

// On a busy machine a member may take long to join.
const limit = { timeoutMs: 180_000 };
const replica = `'replica'@'127.0.0.1'`;

/** Creates the users only at the first start: a second time would be a change that the group does not have. */
const usersOnce = [
  'if [ -d "$folder/mysql" ]; then',
  '  [ ! -e "$folder/made" ] || more=--init-file=/dev/null',
  '  : > "$folder/made"',
  'fi',
];

/** Starts the MySQL servers of a group with one primary (Group Replication) for one test file. */
export async function startGroupReplication(count = 3): Promise<Member[]> {
  const found = await findOracleMysql(() => undefined);
  const shared = { password: randomBytes(18).toString('hex'), database: newDatabaseName('messaging') };
  const folders = Array.from({ length: count }, () => ownFolder('group'));
  const ports = await Promise.all(folders.map(async (folder) => kept.port(folder, 'group')));
  const group = { name: randomUUID(), seeds: ports.map((port) => `127.0.0.1:${port}`).join(',') };
  const servers = await Promise.all(
    folders.map(async (folder, index) =>
      startOwnMysql({
        ...shared,
        found,
        folder,
        options: optionsOf(index, ports[index]!, group),
        before: usersOnce,
      }),
    ),
  );
  // MySQL allows at most 32 characters in a password for replication.
  const password = randomBytes(16).toString('hex');
  const members = servers.map(asMember);
  for (const [index, server] of servers.entries()) {
    // Each member creates this user for itself, outside the transactions of the group.
    await server.query(
      `SET sql_log_bin = 0; CREATE USER ${replica} IDENTIFIED BY '${password}';
      GRANT REPLICATION SLAVE, BACKUP_ADMIN, GROUP_REPLICATION_STREAM, CONNECTION_ADMIN ON *.* TO ${replica};
      SET sql_log_bin = 1; RESET BINARY LOGS AND GTIDS;
      CHANGE REPLICATION SOURCE TO SOURCE_USER = 'replica', SOURCE_PASSWORD = '${password}'
        FOR CHANNEL 'group_replication_recovery'`,
    );
    const isFirst = index === 0;
    if (isFirst) await server.query('SET GLOBAL group_replication_bootstrap_group = 1');
    await server.query('START GROUP_REPLICATION');
    if (isFirst) await server.query('SET GLOBAL group_replication_bootstrap_group = 0');
    await members[index]!.untilJoined();
  }
  return members;
}

/**
 * Returns the options of the guide for operators: the group expels a lost member at once, and a member that sees no
 * majority leaves the group by itself.
 */
function optionsOf(index: number, port: number, { name, seeds }: { name: string; seeds: string }): string[] {
  return [
    `--server-id=${index + 1}`,
    '--log-bin=binlog',
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
    '--plugin-load-add=group_replication.so',
    `--loose-group-replication-group-name=${name}`,
    `--loose-group-replication-local-address=127.0.0.1:${port}`,
    `--loose-group-replication-group-seeds=${seeds}`,
    '--loose-group-replication-start-on-boot=OFF',
    '--loose-group-replication-member-expel-timeout=0',
    '--loose-group-replication-unreachable-majority-timeout=5',
    '--loose-group-replication-recovery-get-public-key=ON',
    '--report-host=127.0.0.1',
    '--mysqlx=OFF',
  ];
}

type State = { state: string; role: string };

async function stateOf({ query }: OwnMysql): Promise<State | undefined> {
  const [row] = await query(
    `SELECT MEMBER_STATE AS state, MEMBER_ROLE AS role
    FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid`,
  );
  return row as State | undefined;
}

/** Tells whether the group agrees. A member that was frozen believes it is in the group until it asks the others. */
async function agrees({ query }: OwnMysql): Promise<boolean> {
  const asked = query("SET SESSION group_replication_consistency = 'BEFORE'; START TRANSACTION; COMMIT");
  return asked.then(
    () => true,
    () => false,
  );
}

function asMember(server: OwnMysql): Member {
  return {
    ...server,
    untilJoined: async () =>
      void (await waitFor(
        'the member has all that the others have',
        async () => {
          const state = (await stateOf(server))?.state;
          if (state === 'ERROR' || state === 'OFFLINE')
            await server.query('STOP GROUP_REPLICATION; START GROUP_REPLICATION');
          return state === 'ONLINE' && (await agrees(server));
        },
        limit,
      )),
    isPrimary: async () => {
      const known = await stateOf(server).catch(() => undefined);
      return known?.state === 'ONLINE' && known.role === 'PRIMARY' && (await agrees(server));
    },
    backlog: async () => {
      const [row] = await server.query(
        `SELECT COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE AS waiting
        FROM performance_schema.replication_group_member_stats WHERE MEMBER_ID = @@server_uuid`,
      );
      return row?.waiting ?? Infinity;
    },
    becomePrimary: async () =>
      void (await server.query('SELECT group_replication_set_as_primary(@@server_uuid)')),
  };
}
