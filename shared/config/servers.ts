import { isReadableFile } from './kinds.ts';

/** One server, or several that belong together: `scheme://user:password@host:port,host:port/path?name=value`. */
export type Servers = {
  scheme: string;
  username: string | undefined;
  password: string | undefined;
  /** `port` is undefined where the address has none. */
  hosts: { host: string; port: number | undefined }[];
  path: string;
  search: URLSearchParams;
};

// Node's URL takes one host only.
const form = /^([a-z][a-z0-9+]*):\/\/(?:([^/?#\s]*)@)?([^@/?#\s]+)(?:\/([^?#\s]*))?(?:\?([^#\s]*))?$/;
const hostForm = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i;

/** Parses such an address; null if it has another form. */
export function parseServers(address: string): Servers | null {
  const [, scheme, user, hosts, path = '', search = ''] = form.exec(address) ?? [];
  if (scheme === undefined || hosts === undefined) return null;
  const found = hosts.split(',').map((host) => hostForm.exec(host));
  if (found.some((one) => one === null || Number(one[3] ?? 1) > 65_535)) return null;
  try {
    const [username, password] = (user ?? '').split(/:(.*)/s, 2).map((part) => decodeURIComponent(part));
    return {
      scheme,
      username: username || undefined,
      password: password || undefined,
      hosts: found.map((one) => ({
        host: (one![1] ?? one![2])!,
        port: one![3] === undefined ? undefined : Number(one![3]),
      })),
      path: decodeURIComponent(path),
      search: new URLSearchParams(search),
    };
  } catch {
    // A percent sign that does not begin a valid escape.
    return null;
  }
}

/** Whether the address names the servers of a MySQL, and a database there. */
export function isMysqlAddress(address: string): boolean {
  const servers = parseServers(address);
  return servers?.scheme === 'mysql' && servers.path !== '';
}

/** Parameters of MYSQL_URL: `ssl-ca` is ours, the others are options of the driver that an address can hold. */
const mysqlParameters = new Set(
  `ssl-ca bigNumberStrings charset charsetNumber compress connectAttributes connectTimeout dateStrings
    debug decimalNumbers enableKeepAlive flags insecureAuth keepAliveInitialDelay localAddress
    maxPreparedStatements multipleStatements password1 password2 password3 passwordSha1 socketPath ssl
    supportBigNumbers timezone trace disableEval enableCleartextPlugin connectionLimit maxIdle
    idleTimeout queueLimit resetOnRelease waitForConnections jsonStrings gracefulEnd`.split(/\s+/),
);

/**
 * Whether the driver knows every parameter of the address. It ignores unknown ones: with `?ssl-mode=REQUIRED`, which is
 * for another driver, it would not use TLS.
 */
export function hasKnownParameters(address: string): boolean {
  return [...(parseServers(address)?.search.keys() ?? [])].every((name) => mysqlParameters.has(name));
}

/** Whether the file of `ssl-ca` can be read, if the address names one. */
export function hasAuthority(address: string): boolean {
  const file = parseServers(address)?.search.get('ssl-ca');
  return file == null || isReadableFile(file);
}

/** Whether the address names a Redis, the Sentinels of one, or nodes of a Redis Cluster. */
export function isRedisAddress(address: string): boolean {
  const servers = parseServers(address);
  if (!servers) return false;
  const { scheme, hosts, path } = servers;
  if (/^rediss?$/.test(scheme)) return hosts.length === 1;
  if (/^rediss?\+sentinel$/.test(scheme)) return path !== '';
  return /^rediss?\+cluster$/.test(scheme);
}

/** Returns the hosts and ports of an address, without its user and password. */
export const placeOf = (address: string): string =>
  (parseServers(address)?.hosts ?? [])
    .map(({ host, port }) => (port === undefined ? host : `${host}:${port}`))
    .join(',');
