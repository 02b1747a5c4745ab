import { Agent, Client, type Dispatcher, Pool } from 'undici';
import { type Connect, type ConnectOptions, createConnect } from './connect.ts';

/** The connections of one process to all webhooks: kept alive, bounded, opened by `connect.ts` only. */

export type LinesOptions = ConnectOptions & {
  /** Connections to one origin at most; more requests than that wait for each other. */
  connectionsPerOrigin: number;
};

/** One connection that undici keeps open, or opens again. */
export type Line = {
  /** Answers received since it was opened: with none, a failure cannot be that of a connection that went stale. */
  answers: number;
  /** Breaks it off, open or being opened. */
  breakOff: (reason: Error) => void;
};

/** What is to be sent over a line. */
export type LineHandler = Dispatcher.DispatchHandler & {
  line: Line | undefined;
  /** True when its deadline has passed while it waited, so nothing must be sent any more. */
  isOver: () => boolean;
};

export type Lines = {
  /** Over a line that is open, else a new one. */
  dispatch: (request: Agent.DispatchOptions, handler: LineHandler) => void;
  /** Over a new line, closed afterwards. */
  dispatchOnce: (request: Agent.DispatchOptions, handler: LineHandler) => void;
  /** Resolves when the requests in hand are done and all is closed. */
  close: () => Promise<void>;
  /** Origins with a connection, open or being opened. */
  originCount: () => number;
};

/** More origins than this are served without keeping their connections. */
const mostOrigins = 2_000;

const shared = {
  allowH2: false,
  // The deadline of the attempt covers all of these, and gives up a connection that is being opened too.
  headersTimeout: 0,
  bodyTimeout: 0,
};

export function createLines(options: LinesOptions): Lines {
  const connect = createConnect(options);
  const kept = createAgent(connect, {
    ...shared,
    connections: options.connectionsPerOrigin,
    maxOrigins: mostOrigins,
    // Most servers keep an idle connection for 5 s or longer; one that says how long is taken at its word, less 1 s.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    keepAliveTimeoutThreshold: 1_000,
    // Now and then the name is resolved again, so that a busy webhook follows when it moves.
    maxRequestsPerClient: 1_000,
  });
  const single = createAgent(connect, { ...shared, pipelining: 0 });
  return {
    dispatch: (request, handler) => void kept.dispatch(request, handler),
    dispatchOnce: (request, handler) => void single.dispatch(request, handler),
    close: async () => {
      await Promise.all([kept.close(), single.close()]);
    },
    originCount: () => Object.keys(kept.stats).length + Object.keys(single.stats).length,
  };
}

function createAgent(connect: Connect, options: Agent.Options): Agent {
  return new Agent({
    ...options,
    factory: (origin, given) =>
      new Pool(origin, { ...(given as Pool.Options), factory: (url, own) => createLine(url, own, connect) }),
  });
}

/** A client holds one connection. What is sent over it learns which line it got. */
function createLine(origin: URL, options: object, connect: Connect): Client {
  const line: Line = { answers: 0, breakOff: () => {} };
  const client = new Client(origin, {
    ...options,
    connect: ({ protocol, hostname, port }, opened) => {
      line.breakOff = connect({ protocol, hostname, port }, (error, socket) => {
        line.answers = 0;
        if (error || !socket) return opened(error ?? new Error('no socket'), null);
        // Undici's own way (`controller.abort`) leaves the request in its queue when it tells that the connection is
        // gone, so that the origin never counts as unused and stays in memory for good.
        line.breakOff = (reason) => socket.destroy(reason);
        opened(null, socket);
      });
    },
  });
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request, handler) => {
    const own = handler as LineHandler;
    if (own.isOver()) return true;
    own.line = line;
    return dispatch(request, handler);
  };
  return client;
}
