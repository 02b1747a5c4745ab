import { logger } from '../../common/logger.ts';

/** Sends a statement by a connection of its own kind. */
type AskServer = (sql: string) => Promise<Record<string, unknown>[]>;

/** `name` tells one server from another. */
type ServerState = { name: string; takesWrites: boolean };

// MariaDB takes what stands behind the number for a comment. Everybody may read that table, unlike the one below.
const whichServer = `SELECT CONCAT_WS(' ', @@hostname, @@port, @@server_id) AS name, @@GLOBAL.read_only AS isReadOnly
  /*!80014 , (SELECT VARIABLE_VALUE FROM performance_schema.global_variables
    WHERE VARIABLE_NAME = 'group_replication_group_name') AS groupName */`;
// A member that has not begun to join has no row, or one without its name.
const ownRow = `SELECT MEMBER_STATE AS state, MEMBER_ROLE AS role
  FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid`;

const mayNotRead = 1142;
const logEveryMs = 60_000;
let loggedAt = Number.NEGATIVE_INFINITY;

/** The server must not be used now. `fatal`, as the driver has it: its connection serves nobody. */
class UnusableServer extends Error {
  readonly fatal = true;
}

/**
 * Asks a server what it is. A member of Group Replication that starts takes writes for a moment before it guards itself,
 * and for good if it cannot join: such writes are in no other member. One that is not the primary may be behind, and then
 * does not find what was accepted. So neither is used, not even for reading.
 * @throws {UnusableServer}
 */
export async function serverState(ask: AskServer): Promise<ServerState> {
  const [server] = (await ask(whichServer)) as { name: string; isReadOnly: number; groupName?: string }[];
  const { name, isReadOnly, groupName } = server!;
  if (groupName) {
    const [member] = (await ask(ownRow).catch(refuseUnknown)) as { state: string; role: string }[];
    const { state = 'OFFLINE', role = '' } = member ?? {};
    if (state !== 'ONLINE' || role !== 'PRIMARY')
      throw new UnusableServer(`the server is not the primary of its group, but ${state} ${role}`.trimEnd());
  }
  return { name, takesWrites: isReadOnly === 0 };
}

function refuseUnknown(error: unknown): never {
  if ((error as { errno?: number }).errno !== mayNotRead) throw error;
  const refusal = new UnusableServer(
    'the server is a member of Group Replication, and whether it is the primary cannot be known: GRANT SELECT ON performance_schema.replication_group_members to the user of MYSQL_URL',
  );
  if (performance.now() - loggedAt > logEveryMs) {
    loggedAt = performance.now();
    logger.error({ err: refusal }, 'a server of MySQL is not used');
  }
  throw refusal;
}
