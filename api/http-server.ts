import http, { type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problem } from '../shared/common/errors.ts';
import { logger } from '../shared/common/logger.ts';
import { watchConnections } from './connections.ts';
import { problemAnswer } from './middleware/problems.ts';
import { requestIdOf } from './middleware/request-log.ts';

const connectionsOf = new WeakMap<Server, ReturnType<typeof watchConnections>>();

type Timeouts = {
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  answerTimeoutMs?: number;
  stallTimeoutMs?: number;
};

const idleCheckMs = 50;
const silentMs = 1_000;
const lingerMs = 2_000;
const mostHeaderBytes = 16 * 1024;

/**
 * Creates a server for the app. A request that Node refuses before the app sees it gets a problem document too. The app
 * ends a slow body itself; the request timeout is for bodies that the app does not wait for. The answer timeout is for
 * clients that do not read their answer. The stall timeout is for clients that stop reading a large answer.
 */
export function createHttpServer(
  app: RequestListener,
  {
    headersTimeoutMs = 10_000,
    requestTimeoutMs = 130_000,
    answerTimeoutMs = 120_000,
    stallTimeoutMs = 20_000,
  }: Timeouts = {},
): Server {
  const server = http.createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // Longer than the idle time of the usual proxies, so that they never reuse a connection that is closing.
    keepAliveTimeout: 75_000,
    connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
    // The app counts the Host headers, and answers with a problem document.
    requireHostHeader: false,
    noDelay: true,
    maxHeaderSize: mostHeaderBytes,
  });
  // The bytes of headers are limited instead. Beyond a limited number Node would silently leave headers out.
  server.maxHeadersCount = 0;
  const connections = watchConnections(server, { answerTimeoutMs, stallTimeoutMs });
  connectionsOf.set(server, connections);
  const serve = connections.inOrder(app);
  server.on('request', serve);
  // The app sends 100 Continue only when it wants the body; other expectations may be ignored (RFC 9110 §10.1.1).
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  server.on('connect', (request, socket) => {
    refuse(socket, problem('method_not_allowed', { headers: { Allow: '' } }), requestIdOf(request));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const unfinished = connections.unfinishedOn(socket);
    if (unfinished?.req.complete && socket.writable) {
      // The faulty bytes came after a whole request, which is in progress and gets its own answer.
      unfinished.shouldKeepAlive = false;
      socket.pause();
      return;
    }
    // The client would read an answer to this as the answer to an earlier request, or as the rest of one.
    const isAmbiguous = connections.isPipelined(socket) || unfinished?.headersSent;
    if (error.code === 'ECONNRESET' || !socket.writable || isAmbiguous) {
      socket.destroy();
      return;
    }
    const requestId = unfinished?.getHeader('Request-Id');
    refuse(
      socket,
      problemOfClientError(error.code),
      typeof requestId === 'string' ? requestId : requestIdOf(),
    );
  });
  return server;
}

function problemOfClientError(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return problem('header_fields_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return problem('request_timeout');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return problem('payload_too_large');
  return problem('validation_failed', { detail: 'The request is not valid HTTP/1.1.' });
}

function refuse(socket: Duplex, refusal: Problem, requestId: string): void {
  const { status, headers, body } = problemAnswer(refusal, requestId);
  const lines = Object.entries({ ...headers, 'Request-Id': requestId, Connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  logger.debug({ requestId, status }, 'a connection was refused, because it sent no valid HTTP request');
  // Closing at once would reset the connection while bytes are unread, and the answer could be lost.
  setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.resume().end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${head}\r\n${body}`);
}

/** Stops accepting, lets the requests in flight finish, and cuts what is left after `graceMs`. */
export async function stopHttpServer(server: Server, graceMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  connectionsOf.get(server)?.endWithAnswers();
  // A connection in use when the server closes becomes idle after its answer, and Node would keep it open.
  const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  const silent = setTimeout(() => connectionsOf.get(server)?.closeSilent(), silentMs);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(silent);
  clearTimeout(cut);
}
