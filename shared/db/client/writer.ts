import { readFileSync } from 'node:fs';
import type { RowDataPacket } from 'mysql2/promise';
import { config } from '../../config/config.ts';
import { parseServers, type Servers } from '../../config/servers.ts';

/** How one of the servers of MYSQL_URL is reached, as the driver takes it. */
type DatabaseAddress = { uri: string; ssl?: { ca: Buffer } };

type Host = Servers['hosts'][number];

/** How long each server may take to say whether it takes writes. */
const probeMs = 1_000;

let current: { address: Promise<DatabaseAddress>; isForgotten: boolean } | undefined;

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

/** Whether MYSQL_URL names several servers. */
const hasChoice = (): boolean => (parseServers(config.MYSQL_URL)?.hosts.length ?? 0) > 1;

async function choose(url: string): Promise<DatabaseAddress> {
  const servers = parseServers(url);
  // The driver parses an address of another form.
  if (!servers) return { uri: url };
  const addresses = servers.hosts.map((host) => addressOf(servers, host));
  const [first, ...others] = addresses as [DatabaseAddress, ...DatabaseAddress[]];
  if (others.length === 0) return first;
  for (const address of addresses) if (await takesWrites(address)) return address;
  // It says what is wrong, or lets read what is there.
  return first;
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

async function takesWrites(address: DatabaseAddress): Promise<boolean> {
  // Where there is one server, nobody needs it.
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ ...address, connectTimeout: probeMs }).catch(() => null);
  if (!connection) return false;
  try {
    // A node of Galera that has lost its group refuses even this.
    const [rows] = await connection.query<RowDataPacket[]>({
      sql: 'SELECT @@GLOBAL.read_only AS isReadOnly',
      timeout: probeMs,
    });
    return rows[0]!['isReadOnly'] === 0;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}
