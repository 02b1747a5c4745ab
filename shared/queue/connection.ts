import { Cluster, Redis, type SentinelConnectionOptions, SentinelConnector } from 'ioredis';
import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { parseServers, type Servers } from '../config/servers.ts';
import { redisTls } from './tls.ts';

/** One Redis, the primary that Sentinels know of, or a Redis Cluster: they take the same commands. */
export type RedisConnection = Redis | Cluster;

/**
 * After a switch the old primary goes on serving the connections that it has, and takes nothing: only a new one is led
 * to the new primary. The sweep finds the work that failed meanwhile.
 */
const leaveReplica = (error: Error): boolean => /\bREADONLY\b/.test(error.message);

type Settings = {
  enableOfflineQueue?: boolean;
  enableAutoPipelining?: boolean;
  maxRetriesPerRequest?: number | null;
  commandTimeout?: number;
  connectTimeout?: number;
  socketTimeout?: number;
  autoResubscribe?: boolean;
  autoResendUnfulfilledCommands?: boolean;
  retryStrategy?: (attempt: number) => number;
};

const redisPort = 6379;
const sentinelPort = 26_379;
/** How often a command goes to another node of a Cluster, with 100 ms between: shorter than a producer waits for it. */
const producerRedirections = 8;

/** A connection to the Redis of REDIS_URL, whatever form that has. Errors of the connection are logged. */
export function connectToRedis(settings: Settings): RedisConnection {
  const servers = parseServers(config.REDIS_URL);
  if (servers?.scheme.endsWith('+cluster')) return noted(connectToCluster(servers, settings));
  if (servers?.scheme.endsWith('+sentinel')) return noted(connectBySentinels(servers, settings));
  return noted(new Redis(config.REDIS_URL, { ...redisTls(), ...settings, reconnectOnError: leaveReplica }));
}

/**
 * The same, but to one node of a Cluster, the next one with each new try: what is published reaches a listener at any
 * of them, and only such a connection tells when it has heard nothing for a while.
 */
export function connectToListen(settings: Settings & { retryStrategy: (attempt: number) => number }): Redis {
  const servers = parseServers(config.REDIS_URL);
  if (!servers?.scheme.endsWith('+cluster')) return connectToRedis(settings) as Redis;
  const nodes = nodesOf(servers, redisPort);
  const connection = new Redis({
    ...settings,
    ...accessOf(servers),
    ...nodes[0],
    retryStrategy: (attempt) => {
      Object.assign(connection.options, nodes[attempt % nodes.length]);
      return settings.retryStrategy(attempt);
    },
  });
  return noted(connection);
}

/**
 * The detector of a connection that is gone hears of the failover too, and would end the attempt to connect anew: ioredis
 * takes that for the end of the client. So it is given up before the attempt.
 */
class ReconnectingSentinels extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override connect(
    ...given: Parameters<SentinelConnector['connect']>
  ): ReturnType<SentinelConnector['connect']> {
    super.disconnect();
    return super.connect(...given);
  }
}

function connectBySentinels(servers: Servers, settings: Settings): Redis {
  const { search, path } = servers;
  const access = accessOf(servers);
  return new Redis({
    ...settings,
    ...access,
    sentinels: nodesOf(servers, sentinelPort),
    name: path,
    ...(search.has('sentinelUsername') && { sentinelUsername: search.get('sentinelUsername')! }),
    ...(search.has('sentinelPassword') && { sentinelPassword: search.get('sentinelPassword')! }),
    ...(access.tls && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
    // A primary that hangs keeps its connections: the Sentinels say when another one has its place.
    failoverDetector: true,
    Connector: ReconnectingSentinels,
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    reconnectOnError: leaveReplica,
  });
}

function connectToCluster(servers: Servers, settings: Settings): Cluster {
  const { enableOfflineQueue, enableAutoPipelining, retryStrategy, maxRetriesPerRequest, ...others } =
    settings;
  const access = accessOf(servers);
  return new Cluster(nodesOf(servers, redisPort), {
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(enableAutoPipelining !== undefined && { enableAutoPipelining }),
    ...(maxRetriesPerRequest !== null && { maxRedirections: producerRedirections }),
    slotsRefreshTimeout: 1_000,
    // A node that hangs keeps its connections: only another one says that it has lost its slots. Workers have a
    // connection for each lane and partition, so they ask seldom.
    slotsRefreshInterval: maxRetriesPerRequest === null ? 5_000 : 2_000,
    // Else ioredis connects to what a name resolves to, which stands in no certificate.
    ...(access.tls && { dnsLookup: (name, done) => done(null, name) }),
    clusterRetryStrategy: retryStrategy ?? ((attempt) => Math.min(attempt * 100, 2_000)),
    redisOptions: {
      ...others,
      ...access,
      // A command that waited for a lost node is to try the one that has its place.
      maxRetriesPerRequest: maxRetriesPerRequest === null ? null : 1,
    },
  });
}

const nodesOf = ({ hosts }: Servers, usualPort: number) =>
  hosts.map(({ host, port = usualPort }) => ({ host, port }));

const accessOf = ({ username, password }: Servers) => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  ...redisTls(),
});

function noted<Connection extends RedisConnection>(connection: Connection): Connection {
  connection.on('error', (error: Error) => logger.debug({ err: error }, 'redis'));
  return connection;
}

/** The nodes of a Cluster that hold keys, else the only one. */
export const primariesOf = (connection: RedisConnection): Redis[] =>
  connection instanceof Cluster ? connection.nodes('master') : [connection];

let producer: RedisConnection | undefined;

/**
 * The connection that adds jobs. It fails at once while Redis is away, because the row in MySQL is what counts
 * and the sweep will find it; workers have connections of their own, which wait.
 */
export function producerConnection(): RedisConnection {
  producer ??= connectToRedis({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 1000,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
  });
  return producer;
}

export function closeProducer(): void {
  producer?.disconnect();
  producer = undefined;
}
