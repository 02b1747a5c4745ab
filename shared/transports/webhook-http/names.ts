import { promises as dns, type RecordWithTtl } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP, isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/**
 * Resolves names by the hosts file and by DNS, as `hosts: files dns` does, but never by getaddrinfo. getaddrinfo runs
 * on the four threads that files and cryptography need too, so a customer with a silent name server would stop the
 * process. Search domains and other name services are not used, so internal names must be written in full.
 */

/** The addresses of a name; of many, some. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export type NameResolver = { resolve: Resolve; close: () => void };

export type NameResolverOptions = {
  /** `address:port` of the name servers; those of the system when left out. */
  servers?: readonly string[];
  hostsFile?: string;
  /** How long a name server has to answer a question before it is asked again. */
  timeoutMs?: number;
  /** An address that condemns the whole answer. */
  isForbidden?: (address: string) => boolean;
};

// With one silent server this gives up after 6 s, early enough to report a fault of DNS.
const defaultTimeoutMs = 2_000;
const tries = 2;

const longestKeptMs = 30_000;
const unknownNameKeptMs = 5_000;
const brokenAnswerKeptMs = 1_000;
const mostKept = 10_000;
/** Of each family: thousands fit into an answer, and nobody tries more than a few. */
const mostAddresses = 16;
const resolverKeptMs = 60_000;

/** A name server that does not answer for IPv6 must not delay a name with an IPv4 address (RFC 8305 §3). */
const secondFamilyMs = 300;

export function createNameResolver(options: NameResolverOptions = {}): NameResolver {
  const { isForbidden = () => false } = options;
  const resolverNow = resolverSource(options);
  const hosts = hostsReader(options.hostsFile ?? '/etc/hosts');
  const answers = new LRUCache<string, Promise<readonly string[]>>({
    max: mostKept,
    ttlResolution: 0,
    perf: { now: () => performance.now() },
  });

  async function find(name: string, keep: (forMs: number) => void): Promise<readonly string[]> {
    try {
      const listed = (await hosts()).get(name);
      if (listed) {
        keep(longestKeptMs);
        return listed;
      }
      const records = await ask(resolverNow(), name);
      keep(Math.min(...records.map((record) => record.ttl)) * 1000);
      return worthKeeping(
        records.map((record) => record.address),
        isForbidden,
      );
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      keep(code === dns.NOTFOUND || code === dns.NODATA ? unknownNameKeptMs : brokenAnswerKeptMs);
      throw error;
    }
  }

  function resolve(hostname: string): Promise<readonly string[]> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const known = answers.get(name);
    if (known) return known;
    const keep = (forMs: number) => {
      // The cache takes a time of 0 for no limit.
      if (forMs === 0) answers.delete(name);
      else answers.set(name, addresses, { ttl: Math.min(forMs, longestKeptMs) });
    };
    const addresses = find(name, keep);
    // Stored before the answer is there, so that all who wait share it.
    answers.set(name, addresses);
    return addresses;
  }

  return { resolve, close: () => resolverNow().cancel() };
}

/** Limits the number of addresses. Checks the whole answer first: one forbidden address stands for all of them. */
function worthKeeping(addresses: string[], isForbidden: (address: string) => boolean): string[] {
  const forbidden = addresses.find(isForbidden);
  if (forbidden !== undefined) return [forbidden];
  const four = addresses.filter(isIPv4);
  const six = addresses.filter((address) => !isIPv4(address));
  return [...four.slice(0, mostAddresses), ...six.slice(0, mostAddresses)];
}

/**
 * Returns one resolver for all names, and a new one each minute, because a resolver reads only once which name
 * servers the system has.
 */
function resolverSource({ servers, timeoutMs = defaultTimeoutMs }: NameResolverOptions): () => dns.Resolver {
  let resolver: dns.Resolver | undefined;
  let endsAt = 0;
  return () => {
    if (!resolver || endsAt < performance.now()) {
      endsAt = performance.now() + resolverKeptMs;
      resolver = new dns.Resolver({ timeout: timeoutMs, tries });
      if (servers) resolver.setServers(servers);
    }
    return resolver;
  };
}

/**
 * Asks for both families. IPv4 works from everywhere, so its answer is always awaited. IPv6 gets only a short time
 * once there is an IPv4 address.
 */
async function ask(resolver: dns.Resolver, name: string): Promise<RecordWithTtl[]> {
  let six: RecordWithTtl[] = [];
  const sixAnswered = resolver.resolve6(name, { ttl: true }).then(
    (records) => {
      six = records;
    },
    () => {},
  );
  let four: RecordWithTtl[] = [];
  let failure: unknown;
  try {
    four = await resolver.resolve4(name, { ttl: true });
  } catch (error) {
    failure = error;
  }
  const late = four.length > 0 ? sleep(secondFamilyMs, undefined, { ref: false }) : sixAnswered;
  await Promise.race([sixAnswered, late]);
  if (four.length + six.length === 0) throw failure;
  return [...four, ...six];
}

function hostsReader(file: string): () => Promise<Map<string, string[]>> {
  let read: Promise<Map<string, string[]>> | undefined;
  let endsAt = 0;
  return () => {
    if (!read || endsAt < performance.now()) {
      endsAt = performance.now() + longestKeptMs;
      read = readFile(file, 'utf8').then(parseHosts, () => new Map<string, string[]>());
    }
    return read;
  };
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!isIP(address)) continue;
    for (const name of names)
      hosts.set(name.toLowerCase(), [...(hosts.get(name.toLowerCase()) ?? []), address]);
  }
  return hosts;
}
