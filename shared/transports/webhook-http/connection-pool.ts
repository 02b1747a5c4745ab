import { Client, type Dispatcher, Pool } from 'undici';
import { type ConnectOptions, createConnect } from './connect.ts';

/**
 * The connections of one process to all webhooks: kept alive, bounded, opened by `connect.ts` only. Pools are kept
 * here and not in undici's Agent: after a request is broken off, or when an origin has as many connections as it may,
 * the Agent does not drop an origin that is no longer in use.
 */

type PoolOptions = ConnectOptions & {
  /** Connections to one origin at most; more requests than that wait for each other. */
  connectionsPerOrigin: number;
};

/** One connection that is kept open, or opened again. */
type KeptConnection = {
  /**
   * Answers received since the connection was opened. Without any, a failure cannot mean that the connection went
   * stale.
   */
  answers: number;
  /** Breaks the connection off, open or being opened. */
  breakOff: (reason: Error) => void;
};

/** A request that is to be sent over a connection. */
export type PooledHandler = Dispatcher.DispatchHandler & {
  connection: KeptConnection | undefined;
  /** True when its deadline has passed while it waited, so nothing must be sent any more. */
  isOver: () => boolean;
};

export type PooledRequest = Dispatcher.DispatchOptions & { origin: string };

export type ConnectionPool = {
  /** Over a connection that is open, else a new one. */
  dispatch: (request: PooledRequest, handler: PooledHandler) => void;
  /** Over a new connection, closed afterwards. */
  dispatchOnce: (request: PooledRequest, handler: PooledHandler) => void;
  /** Resolves when the requests in flight are done and all is closed. */
  close: () => Promise<void>;
  /** Origins with a connection, open or being opened. */
  originCount: () => number;
};

/** Of more origins than this no connections are kept, because each idle one costs a file descriptor. */
const mostOrigins = 2_000;

const shared: Client.Options = {
  allowH2: false,
  // The deadline of the attempt covers all of these, and breaks off a connection that is being opened too.
  headersTimeout: 0,
  bodyTimeout: 0,
};

const kept: Client.Options = {
  ...shared,
  // Most servers keep an idle connection for 5 s or longer. If a server states its time, we use that time less 1 s.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 30_000,
  keepAliveTimeoutThreshold: 1_000,
  // After this many requests the name is resolved again, so that a busy webhook that moves to another address is
  // followed.
  maxRequestsPerClient: 1_000,
};

const notKept: Client.Options = { ...shared, pipelining: 0 };

export function createConnectionPool(options: PoolOptions): ConnectionPool {
  const pools = new Map<string, Pool>();
  const singles = new Set<Client>();
  const openClient = createOpenClient(options);

  function openPool(origin: string): Pool {
    const pool = new Pool(origin, {
      connections: options.connectionsPerOrigin,
      factory: (url) => openClient(url, kept),
    });
    // This runs a turn later, when undici has finished with the connection that ended.
    const forgetSoon = () => setImmediate(forget);
    const forget = () => {
      if (pools.get(origin) !== pool || pool.stats.connected > 0 || pool.stats.size > 0) return;
      pools.delete(origin);
      void pool.close();
    };
    pool.on('disconnect', forgetSoon);
    pool.on('connectionError', forgetSoon);
    pools.set(origin, pool);
    return pool;
  }

  function dispatchOnce(request: PooledRequest, handler: PooledHandler): void {
    const client = openClient(request.origin, notKept);
    client.dispatch(request, handler);
    singles.add(client);
    client.close(() => singles.delete(client));
  }

  return {
    dispatch: (request, handler) => {
      const { origin } = request;
      const pool = pools.get(origin) ?? (pools.size < mostOrigins ? openPool(origin) : undefined);
      if (pool) pool.dispatch(request, handler);
      else dispatchOnce(request, handler);
    },
    dispatchOnce,
    close: async () => {
      const open = [...pools.values(), ...singles];
      pools.clear();
      await Promise.all(open.map((one) => one.close()));
    },
    originCount: () => pools.size + singles.size,
  };
}

/**
 * Returns a function that opens clients. A client holds one connection at a time, and tells each request which one it
 * got.
 */
function createOpenClient(options: ConnectOptions): (origin: URL | string, own: Client.Options) => Client {
  const connect = createConnect(options);
  return (origin, own) => {
    const connection: KeptConnection = { answers: 0, breakOff: () => {} };
    const client = new Client(origin, {
      ...own,
      connect: ({ protocol, hostname, port }, opened) => {
        connection.breakOff = connect({ protocol, hostname, port }, (error, socket) => {
          if (error || !socket) return opened(error ?? new Error('no socket'), null);
          connection.answers = 0;
          connection.breakOff = (reason) => socket.destroy(reason);
          opened(null, socket);
        });
      },
    });
    const dispatch = client.dispatch.bind(client);
    client.dispatch = (request, handler) => {
      const pooledHandler = handler as PooledHandler;
      if (pooledHandler.isOver()) return true;
      pooledHandler.connection = connection;
      return dispatch(request, handler);
    };
    return client;
  };
}
