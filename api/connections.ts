import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express from 'express';
import { config } from '../shared/config/config.ts';
import { networkIn } from '../shared/formats/network-address.ts';
import { isLargeOnItsWay } from './middleware/large-body.ts';
import { runQueue } from './run-queue.ts';

type HttpConnection = {
  /** The response to the newest request; undefined before the first. */
  latest: ServerResponse | undefined;
  /** The response that is being made or sent. */
  current: ServerResponse | undefined;
  /** Requests that wait for earlier requests of the connection. */
  waiting: number;
  /** The response that the client is reading, when it began, and how many bytes the client had taken at which time. */
  sending: { response: ServerResponse; since: number; taken: number; takenAt: number } | undefined;
};

/** The most waiting requests of a connection: no real client sends more, and each is held in memory. */
const mostWaiting = 100;
const checkEveryMs = 1_000;

/** Watches the connections of a server, so that no client can hold one for ever or take more than its share. */
export function watchConnections(
  server: Server,
  { answerTimeoutMs, stallTimeoutMs }: { answerTimeoutMs: number; stallTimeoutMs: number },
) {
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
  const timer = setInterval(cutUnread, Math.min(checkEveryMs, answerTimeoutMs, stallTimeoutMs)).unref();
  server.once('close', () => clearInterval(timer));

  /**
   * Closes connections whose client does not read its answer; Node would wait for ever. A large answer takes memory, so
   * a client that stops reading one is cut earlier.
   */
  function cutUnread(): void {
    const time = performance.now();
    for (const [socket, connection] of connections) {
      const { current, sending } = connection;
      const taken = current?.socket?.bytesWritten ?? 0;
      if (!current?.headersSent || current.closed) connection.sending = undefined;
      else if (sending?.response !== current)
        connection.sending = { response: current, since: time, taken, takenAt: time };
      else if (time - sending.since >= answerTimeoutMs) socket.destroy();
      else if (taken > sending.taken) connection.sending = { ...sending, taken, takenAt: time };
      else if (isLargeOnItsWay(current) && time - sending.takenAt >= stallTimeoutMs) socket.destroy();
    }
  }

  /**
   * Handles the requests of one connection one after the other: otherwise a client that sends thousands without
   * reading an answer would have all of them processed at once. An answer that fits into the buffer of the socket ends
   * in the same turn of the event loop, so each following request waits for a later turn: otherwise one connection
   * could have all of its requests handled in one turn, while everybody else waits.
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

  /** Returns the latest response of the connection, unless its end has been written. */
  function unfinishedOn(socket: Duplex): ServerResponse | undefined {
    const latest = connections.get(socket)?.latest;
    return latest && !latest.writableEnded ? latest : undefined;
  }

  /** Whether a request of the connection waits for one before it. */
  function isPipelined(socket: Duplex): boolean {
    return (connections.get(socket)?.waiting ?? 0) > 0;
  }

  /**
   * Closes connections that have sent no request so far, because Node counts them as in use. Proxies and browsers open
   * such connections in advance.
   */
  function closeSilent(): void {
    for (const [socket, { latest }] of connections) if (!latest) socket.destroy();
  }

  /** Makes every answer that has not begun tell the client that it is the last on its connection. */
  function endWithAnswers(): void {
    for (const { current } of connections.values())
      if (current && !current.headersSent) current.shouldKeepAlive = false;
  }

  return { inOrder, unfinishedOn, isPipelined, closeSilent, endWithAnswers };
}

/**
 * Counts the open connections of each address. A proxy has the connections of many clients, so it has to count them
 * itself.
 */
function addressLimit() {
  const most = config.CONNECTIONS_PER_ADDRESS;
  const isProxy: (address: string, hop: number) => boolean = express()
    .set('trust proxy', config.TRUST_PROXY)
    .get('trust proxy fn');
  const open = new Map<string, number>();

  /** Counts one connection and returns the function that takes the count back; null if the address is at its limit. */
  function enter({ remoteAddress = '' }: Socket): (() => void) | null {
    if (most === 0 || isProxy(remoteAddress, 0)) return () => undefined;
    const address = networkIn(remoteAddress) ?? 'unknown';
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
