import { readFileSync } from 'node:fs';
import type { RowDataPacket } from 'mysql2/promise';
import { config } from '../../config/config.ts';
import { parseServers, type Servers } from '../../config/servers.ts';
import { findWritable, type ServerView, viewOfServer } from './membership.ts';

/** How one of the servers of MYSQL_URL is reached, as the driver takes it. */
type DatabaseAddress = { uri: string; ssl?: { ca: Buffer } };

type Host = Servers['hosts'][number];

/** How long each server may take over each answer. */
const probeMs = 1_000;

let current: { address: Promise<DatabaseAddress>; isForgotten: boolean } | undefined;
let isDoubted = false;
let review: Promise<boolean> | undefined;

/**
 * The server that takes writes: of several the first that does, for as long as nothing is wrong with it. In their order, so
 * that all processes come to the same one where more than one would take them.
 */
export async function findWriter(): Promise<{ address: DatabaseAddress; isForgotten: () => boolean }> {
  current ??= { address: choose(config.MYSQL_URL), isForgotten: false };
  const choice = current;
  return { address: await choice.address, isForgotten: () => choice.isForgotten && hasChoice() };
}

/** The server that was chosen takes no writes, or is not there: the next connection chooses anew. */
export function forgetWriter(): void {
  if (current) current.isForgotten = true;
  current = undefined;
}

/**
 * The server has stood still for a while. Its group may have gone on without it meanwhile, and a server learns that a few
 * seconds late: until then it takes itself for the one that takes writes, and answers with old rows.
 */
export function doubtWriter(): void {
  isDoubted ||= hasChoice();
}

/** Asks the servers again where the one in use is doubted. True: another one takes writes, and the next connection leads there. */
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
  // The one in use first: as long as it takes writes there is no reason to leave it.
  const inTurn = [...addresses.filter(isInUse), ...addresses.filter((address) => !isInUse(address))];
  const found = await firstWritable(inTurn);
  // Where none takes writes, the one in use is as good as any.
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
  // The first one says what is wrong, or lets read what is there.
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
  // Where there is one server, nobody needs it.
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ ...address, connectTimeout: probeMs }).catch(() => null);
  if (!connection) return null;
  try {
    return await viewOfServer(async (sql) => {
      // A node of Galera that has lost its group refuses even this.
      const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: probeMs });
      return rows;
    });
  } catch {
    return null;
  } finally {
    connection.destroy();
  }
}
