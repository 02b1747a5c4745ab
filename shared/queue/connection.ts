import { Cluster, Redis, type SentinelConnectionOptions, SentinelConnector } from 'ioredis';
import { logger } from '../common/logger.ts';
import { config } from '../config/config.ts';
import { parseServers, type Servers } from '../config/servers.ts';
import { redisTls } from './tls.ts';

/** A single Redis, the primary that Sentinels name, or a Redis Cluster. All take the same commands. */
export type RedisConnection = Redis | Cluster;

/**
 * After a failover the old primary keeps its connections but refuses writes. Only a new connection reaches the new
 * primary, so this error makes the client reconnect. The sweep finds the work that failed meanwhile.
 */
const leaveReplica = (error: Error): boolean => /\bREADONLY\b/.test(error.message);

type RedisSettings = {
  enableOfflineQueue?: boolean;
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
/**
 * How often a command is redirected to another node of a Cluster, with 100 ms between. Together this is shorter than
 * the time that a producer waits for a command.
 */
const producerRedirections = 8;

/** Connects to the Redis of REDIS_URL, whatever form that address has. Logs errors of the connection. */
export function connectToRedis(settings: RedisSettings): RedisConnection {
  const servers = parseServers(config.REDIS_URL);
  if (servers?.scheme.endsWith('+cluster')) return noted(connectToCluster(servers, settings));
  if (servers?.scheme.endsWith('+sentinel')) return noted(connectBySentinels(servers, settings));
  return noted(new Redis(config.REDIS_URL, { ...redisTls(), ...settings, reconnectOnError: leaveReplica }));
}

/**
 * Connects for listening: in a Cluster to one node, and to the next one with each retry. A published message reaches
 * the listeners at every node, and only such a connection reports that it has heard nothing for a while.
 */
export function connectToListen(
  settings: RedisSettings & { retryStrategy: (attempt: number) => number },
): Redis {
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
 * The failover detector of a lost connection also hears of the failover, and would end the new attempt to connect;
 * ioredis would then regard the client as closed. So the old detector is disconnected before each attempt.
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

function connectBySentinels(servers: Servers, settings: RedisSettings): Redis {
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
    // A primary that hangs keeps its connections open; the Sentinels tell when another server has replaced it.
    failoverDetector: true,
    Connector: ReconnectingSentinels,
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
    reconnectOnError: leaveReplica,
  });
}

function connectToCluster(servers: Servers, settings: RedisSettings): Cluster {
  const { enableOfflineQueue, retryStrategy, maxRetriesPerRequest, ...others } = settings;
  const access = accessOf(servers);
  const isWorker = maxRetriesPerRequest === null;
  return new (isWorker ? WorkerCluster : Cluster)(nodesOf(servers, redisPort), {
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(!isWorker && { maxRedirections: producerRedirections }),
    slotsRefreshTimeout: 1_000,
    // A node that hangs keeps its connections open, and only another node tells that it has lost its slots.
    slotsRefreshInterval: isWorker ? 5_000 : 2_000,
    // Otherwise ioredis connects to the IP address of a name, and no certificate names that address.
    ...(access.tls && { dnsLookup: (name, done) => done(null, name) }),
    clusterRetryStrategy: retryStrategy ?? ((attempt) => Math.min(attempt * 100, 2_000)),
    redisOptions: {
      ...others,
      ...access,
      // A command that waited for a lost node must go to the node that has replaced it.
      maxRetriesPerRequest: isWorker ? null : 1,
    },
  });
}

/**
 * The connection of a process of workers to a Redis Cluster. BullMQ duplicates it for each lane and partition, and waits
 * for jobs on the duplicates. To ask for the slots costs a connection and some milliseconds of CPU time. So a duplicate
 * asks after a redirection, and while the nodes change: this connection asks all the time, and tells it.
 */
class WorkerCluster extends Cluster {
  readonly #duplicates = new Set<Cluster>();
  #changedAt = -Infinity;

  constructor(...given: ConstructorParameters<typeof Cluster<'legacy'>>) {
    super(...given);
    const noteChange = () => {
      if (this.status === 'ready') this.#changedAt = performance.now();
    };
    this.on('+node', noteChange).on('-node', noteChange);
    this.on('refresh', () => {
      if (performance.now() - this.#changedAt > nodesSettleMs) return;
      for (const one of this.#duplicates) one.refreshSlotsCache();
    });
  }

  override duplicate(...given: Parameters<Cluster['duplicate']>): Cluster {
    const duplicate = super.duplicate(...given);
    // ioredis reads this once the connection is there.
    duplicate.options.slotsRefreshInterval = 60_000;
    this.#duplicates.add(duplicate);
    duplicate.once('end', () => this.#duplicates.delete(duplicate));
    return duplicate;
  }
}

/** So long after a change of the nodes some of them may still tell the old owners of the slots. */
const nodesSettleMs = 30_000;

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

/** Returns the primaries of a Cluster, or the only server. */
export const primariesOf = (connection: RedisConnection): Redis[] =>
  connection instanceof Cluster ? connection.nodes('master') : [connection];

let producer: RedisConnection | undefined;

/**
 * Returns the connection that adds jobs. Its commands fail at once while Redis is away, because the row in MySQL is
 * what counts and the sweep will find the row. Workers have their own connections, which wait for Redis.
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
