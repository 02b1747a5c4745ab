type Environment = Readonly<Record<string, string | undefined>>;

/** Names of variables in which hosts give the address of a database that they run; the first that is set counts. */
export const addOnNames = {
  MYSQL_URL: ['JAWSDB_URL', 'JAWSDB_MARIA_URL', 'CLEARDB_DATABASE_URL'],
  REDIS_URL: ['REDIS_TLS_URL', 'REDISCLOUD_URL'],
} as const;

/** The environment, with MYSQL_URL and REDIS_URL from the add-ons of the host if they are not set themselves. */
export function withAddOns<E extends Environment>(environment: E): E & Environment {
  const found = Object.entries(addOnNames).flatMap(([name, others]) => {
    const address = others.map((other) => environment[other]).find(Boolean);
    return environment[name] || address === undefined ? [] : [[name, withoutReconnect(address)]];
  });
  return { ...environment, ...Object.fromEntries(found) };
}

/** Removes the parameter `reconnect`, which ClearDB adds for some drivers; ours warns of unknown parameters. */
function withoutReconnect(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (!url.searchParams.has('reconnect')) return address;
  url.searchParams.delete('reconnect');
  return url.href;
}
