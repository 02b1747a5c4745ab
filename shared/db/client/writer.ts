import { readFileSync } from 'node:fs';
import type { RowDataPacket } from 'mysql2/promise';
import { config } from '../../config/config.ts';
import { parseServers, type Servers } from '../../config/servers.ts';
import { findWritable, type ServerView, viewOfServer } from './membership.ts';

/** Chooses the server of MYSQL_URL that takes writes, for the connection pool. */

/** How one of the servers of MYSQL_URL is reached, as the driver takes it. */
type DatabaseAddress = { uri: string; ssl?: { ca: Buffer } };

type Host = Servers['hosts'][number];

/** How long each server may take for each answer. */
const probeMs = 1_000;

let current: { address: Promise<DatabaseAddress>; isForgotten: boolean } | undefined;
let isDoubted = false;
let review: Promise<boolean> | undefined;

/**
 * Returns the server that takes writes. Of several servers in MYSQL_URL the first such one is used until something is
 * wrong with it. The order is fixed, so all processes choose the same one where more than one takes writes.
 */
export async function findWriter(): Promise<{ address: DatabaseAddress; isForgotten: () => boolean }> {
  current ??= { address: choose(config.MYSQL_URL), isForgotten: false };
  const choice = current;
  return { address: await choice.address, isForgotten: () => choice.isForgotten && hasChoice() };
}

/**
 * Drops the choice, because the chosen server takes no writes or does not answer: the next connection chooses again.
 */
export function forgetWriter(): void {
  if (current) current.isForgotten = true;
  current = undefined;
}

/**
 * Marks the server as doubtful after it was frozen for a while. Its group may have chosen another primary meanwhile,
 * and the server learns that a few seconds late: until then it takes itself for the primary and answers with old rows.
 */
export function doubtWriter(): void {
  isDoubted ||= hasChoice();
}

/** Asks the servers again if the current one is doubted. True: another takes writes; new connections go there. */
export async function reviewWriter(): Promise<boolean> {
  if (isDoubted) {
    isDoubted = false;
    const own = ask().finally(() => {
      if (review === own) review = undefined;
    });
    review = own;
  }
  return (await review) ?? false;
}

async function ask(): Promise<boolean> {
  const before = current;
  if (!before) return false;
  const { uri } = await before.address;
  const isInUse = (address: DatabaseAddress) => address.uri === uri;
  const addresses = addressesOf(config.MYSQL_URL);
  // Ask the server in use first: while it takes writes, there is no reason to leave it.
  const inTurn = [...addresses.filter(isInUse), ...addresses.filter((address) => !isInUse(address))];
  const found = await firstWritable(inTurn);
  // If no server takes writes, we keep the one in use: it is as good as any other.
  if (!found || before !== current || isInUse(found)) return false;
  before.isForgotten = true;
  current = { address: Promise.resolve(found), isForgotten: false };
  return true;
}

/** Whether MYSQL_URL names several servers. */
const hasChoice = (): boolean => (parseServers(config.MYSQL_URL)?.hosts.length ?? 0) > 1;

async function choose(url: string): Promise<DatabaseAddress> {
  const addresses = addressesOf(url);
  const [first, ...others] = addresses as [DatabaseAddress, ...DatabaseAddress[]];
  if (others.length === 0) return first;
  // If none takes writes, the first one reports the error, or at least allows reading.
  return (await firstWritable(addresses)) ?? first;
}

function addressesOf(url: string): DatabaseAddress[] {
  const servers = parseServers(url);
  // The driver parses an address of another form.
  return servers ? servers.hosts.map((host) => addressOf(servers, host)) : [{ uri: url }];
}

async function firstWritable(addresses: DatabaseAddress[]): Promise<DatabaseAddress | null> {
  return addresses[findWritable(await Promise.all(addresses.map(look)))] ?? null;
}

function addressOf(
  { scheme, username, password, path, search }: Servers,
  { host, port }: Host,
): DatabaseAddress {
  const others = new URLSearchParams(search);
  const authority = others.get('ssl-ca');
  others.delete('ssl-ca');
  const user = [username ?? '', password ?? ''].map(encodeURIComponent).join(':');
  const place = `${host.includes(':') ? `[${host}]` : host}:${port ?? 3306}`;
  return {
    uri: `${scheme}://${user}@${place}/${encodeURIComponent(path)}${others.size > 0 ? `?${others.toString()}` : ''}`,
    ...(authority !== null && { ssl: { ca: readFileSync(authority) } }),
  };
}

/** The server as it describes itself; null where it does not answer. */
async function look(address: DatabaseAddress): Promise<ServerView | null> {
  // Imported only here: with one server nobody needs it.
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ ...address, connectTimeout: probeMs }).catch(() => null);
  if (!connection) return null;
  try {
    return await viewOfServer(async (sql) => {
      // A Galera node that has lost its group refuses even this statement.
      const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: probeMs });
      return rows;
    });
  } catch {
    return null;
  } finally {
    connection.destroy();
  }
}
