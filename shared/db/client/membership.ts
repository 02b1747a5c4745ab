import { atMostEvery, logger } from '../../common/logger.ts';

/** Sends a statement on a connection that the caller chose. */
type AskServer = (sql: string) => Promise<Record<string, unknown>[]>;

type GroupMember = { id: string; state: string; role: string; isOwn: number };

/** A server as it describes itself. `name` is unique to it; `members` are those of its group, in its own view. */
export type ServerView = { name: string; isReadOnly: boolean; members: GroupMember[] | null };

const whichServer = `SELECT CONCAT_WS(' ', @@hostname, @@port, @@server_id) AS name, @@GLOBAL.read_only AS isReadOnly,
  1 /*M! - 1 */ AS isMysql`;
// Every engine answers this for every user, with no row where the engine has no such groups.
const whichGroup = "SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'";
const membersOfGroup = `SELECT MEMBER_ID AS id, MEMBER_STATE AS state, MEMBER_ROLE AS role, MEMBER_ID = @@server_uuid AS isOwn
  FROM performance_schema.replication_group_members`;

const mayNotRead = 1142;
const mayLog = atMostEvery(60_000);

/** The server must not be used now. `fatal` has the meaning of the driver: the connection serves nobody. */
class UnusableServer extends Error {
  readonly fatal = true;
}

/**
 * Asks a server for its view, and whether it is MySQL, not MariaDB.
 * @throws {UnusableServer} where the user may not know whether the server is in its group
 */
export async function viewOfServer(ask: AskServer): Promise<ServerView & { isMysql: boolean }> {
  const [server] = (await ask(whichServer)) as { name: string; isReadOnly: number; isMysql: number }[];
  const [group] = (await ask(whichGroup)) as { Value: string }[];
  const { name, isReadOnly, isMysql } = server!;
  const members = group?.Value ? ((await ask(membersOfGroup).catch(refuseUnknown)) as GroupMember[]) : null;
  return { name, isReadOnly: isReadOnly !== 0, isMysql: isMysql !== 0, members };
}

/**
 * Refuses a member that is not the primary of its group, even for reading. A member of Group Replication that starts
 * accepts writes until it has made itself read-only, which never happens if it cannot join. No other member has such
 * writes. A member that is not the primary may be behind, and then does not find accepted work.
 * @throws {UnusableServer}
 */
export function requirePrimary({ members }: ServerView): void {
  if (!members || onlinePrimaryOf(members)) return;
  // A member that has not begun to join has a row without its id.
  const { state = 'OFFLINE', role = '' } = members.find(isOwn) ?? {};
  throw new UnusableServer(`the server is not the primary of its group, but ${state} ${role}`.trimEnd());
}

const isOwn = (member: GroupMember): boolean => member.isOwn === 1;
const isOnlinePrimary = ({ state, role }: GroupMember): boolean => state === 'ONLINE' && role === 'PRIMARY';
/** Returns the server's own row, where the server is the primary. */
const onlinePrimaryOf = (members: GroupMember[]): GroupMember | undefined =>
  members.find((member) => isOwn(member) && isOnlinePrimary(member));

/**
 * Returns the index of the first writable server, or -1. A frozen primary claims the role for some seconds more,
 * while the others have elected another. So the members vote, and a server must have as many votes as any other.
 */
export function findWritable(views: readonly (ServerView | null)[]): number {
  const votes = new Map<string, number>();
  const groups = views.flatMap((view) => (view?.members ? [view.members] : []));
  for (const { id } of groups.filter(seesMost).flatMap((members) => members.filter(isOnlinePrimary)))
    votes.set(id, (votes.get(id) ?? 0) + 1);
  const most = Math.max(...votes.values());
  return views.findIndex((view) => {
    if (!view || view.isReadOnly) return false;
    if (!view.members) return true;
    const own = onlinePrimaryOf(view.members);
    return own !== undefined && votes.get(own.id) === most;
  });
}

/** The view of a member that is cut off from the others is out of date. */
const seesMost = (members: GroupMember[]): boolean =>
  members.filter(({ state }) => state === 'UNREACHABLE').length < members.length / 2;

function refuseUnknown(error: unknown): never {
  if ((error as { errno?: number }).errno !== mayNotRead) throw error;
  const refusal = new UnusableServer(
    'the server is a member of Group Replication, and whether it is the primary cannot be known: GRANT SELECT ON performance_schema.replication_group_members to the user of MYSQL_URL',
  );
  if (mayLog()) logger.error({ err: refusal }, 'a server of MySQL is not used');
  throw refusal;
}
