import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { config } from '../shared/config/config.ts';
import { networkIn } from '../shared/formats/network-address.ts';
import { runQueue } from './run-queue.ts';

type HttpConnection = {
  /** The response to the last request that has come; none before the first. */
  latest: ServerResponse | undefined;
  /** The response that is being made or sent. */
  current: ServerResponse | undefined;
  /** Requests that have come and wait for those before them. */
  waiting: number;
  /** Since when the client has been taking this response. */
  sending: { response: ServerResponse; since: number } | undefined;
};

/** Nobody pipelines so many in earnest; each is held in memory. */
const mostWaiting = 100;
const checkEveryMs = 1_000;

/** Keeps an eye on the connections of a server, so that none can be held for ever or take more than its part. */
export function watchConnections(server: Server, { answerTimeoutMs }: { answerTimeoutMs: number }) {
  const connections = new Map<Duplex, HttpConnection>();
  const perAddress = addressLimit();
  const followers = runQueue();
  server.maxConnections = config.MAX_CONNECTIONS;
  server.on('connection', (socket) => {
    const leave = perAddress.enter(socket);
    if (!leave) return void socket.destroy();
    connections.set(socket, { latest: undefined, current: undefined, waiting: 0, sending: undefined });
    socket.once('close', () => {
      connections.delete(socket);
      leave();
    });
  });
  const timer = setInterval(cutUnread, Math.min(checkEveryMs, answerTimeoutMs)).unref();
  server.once('close', () => clearInterval(timer));

  /** Node waits for ever for a client that does not read. */
  function cutUnread(): void {
    const time = performance.now();
    for (const [socket, connection] of connections) {
      const { current, sending } = connection;
      if (!current?.headersSent || current.closed) connection.sending = undefined;
      else if (sending?.response !== current) connection.sending = { response: current, since: time };
      else if (time - sending.since >= answerTimeoutMs) socket.destroy();
    }
  }

  /**
   * Requests of one connection are dealt with one after the other, in their order: a client that sends thousands
   * without reading an answer would otherwise have them all worked at once. An answer that fits into the buffer of the
   * socket ends in the turn that made it, so each request that follows waits for a later turn: otherwise one connection
   * would have all of its requests done in one turn of the event loop, and everybody else would wait for them.
   */
  function inOrder(app: RequestListener): RequestListener {
    return (request, response) => {
      const connection = connections.get(request.socket);
      if (!connection) return void request.socket.destroy();
      const before = connection.latest;
      const start = () => {
        connection.current = response;
        // The server is stopping.
        if (!server.listening) response.shouldKeepAlive = false;
        app(request, response);
      };
      connection.latest = response;
      if (!before || before.closed) return start();
      connection.waiting += 1;
      if (connection.waiting > mostWaiting) return void request.socket.destroy();
      before.once('close', () =>
        followers.add(() => {
          connection.waiting -= 1;
          if (!request.socket.destroyed) start();
        }),
      );
    };
  }

  /** The latest response of the connection, unless it has been made whole. */
  function unfinishedOn(socket: Duplex): ServerResponse | undefined {
    const latest = connections.get(socket)?.latest;
    return latest && !latest.writableEnded ? latest : undefined;
  }

  /** Whether a request of the connection waits for one before it. */
  function isPipelined(socket: Duplex): boolean {
    return (connections.get(socket)?.waiting ?? 0) > 0;
  }

  /** To Node a connection that has not asked anything yet is in use; proxies and browsers open such in advance. */
  function closeSilent(): void {
    for (const [socket, { latest }] of connections) if (!latest) socket.destroy();
  }

  /** Every answer that has not begun tells the client that it is the last on its connection. */
  function endWithAnswers(): void {
    for (const { current } of connections.values())
      if (current && !current.headersSent) current.shouldKeepAlive = false;
  }

  return { inOrder, unfinishedOn, isPipelined, closeSilent, endWithAnswers };
}

/** Counts the open connections of each address; behind a proxy all come from it, and it does the counting. */
function addressLimit() {
  const most = config.TRUST_PROXY > 0 ? 0 : config.CONNECTIONS_PER_ADDRESS;
  const open = new Map<string, number>();

  /** How to leave again; null where the address has as many as it may have. */
  function enter({ remoteAddress }: Socket): (() => void) | null {
    if (most === 0) return () => undefined;
    const address = networkIn(remoteAddress ?? '') ?? 'unknown';
    const count = open.get(address) ?? 0;
    if (count >= most) return null;
    open.set(address, count + 1);
    return () => {
      const left = open.get(address)! - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    };
  }

  return { enter };
}
