import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { atEnd } from '../runner/at-end.ts';

/** A customer's endpoint: records every request and answers as told. It closes when the test file has ended. */

export type ReceivedRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  rawHeaders: string[];
  body: Buffer;
  /** The IP address of the sender. */
  from: string;
  /** The time at which the whole request had arrived, in milliseconds since 1970. */
  at: number;
};

export type Answer = {
  /** The status; 200 if left out. */
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** The wait before the status line. */
  delayMs?: number;
  /**
   * The fault to play: `hang` never answers, `reset` breaks the connection instead of answering, `drip` sends a byte of
   * body now and then, `endless` sends body for ever, `cut` breaks the connection within the body.
   */
  fault?: 'hang' | 'reset' | 'drip' | 'endless' | 'cut';
};

export type Respond = (request: ReceivedRequest, index: number) => Answer | Promise<Answer>;

export const answers = {
  hang: { fault: 'hang' },
  reset: { fault: 'reset' },
  drippingBody: { fault: 'drip' },
  endlessBody: { fault: 'endless' },
  cutBody: { fault: 'cut' },
  redirectTo: (location: string): Answer => ({ status: 301, headers: { location } }),
  tooManyRequests: (retryAfter?: string): Answer => ({
    status: 429,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  }),
} satisfies Record<string, Answer | ((text: string) => Answer)>;

export type WebhookReceiver = {
  /** The URL, with no path and no slash at the end. */
  url: string;
  port: number;
  requests: ReceivedRequest[];
  connections: { opened: number; open: number /** Resumed TLS sessions. */; resumed: number };
  /** How many bytes the answers that drip have sent. */
  drips: () => number;
  respondWith: (answer: Answer | Respond) => void;
  /** Resolves once this many requests have come, or once the predicate is true for all requests so far. */
  waitFor: (
    wanted: number | ((requests: ReceivedRequest[]) => boolean),
    options?: { timeoutMs?: number },
  ) => Promise<ReceivedRequest[]>;
  close: () => Promise<void>;
};

type WebhookReceiverOptions = {
  respond?: Answer | Respond;
  /** Makes it an https endpoint. */
  tls?: { key: string; cert: string };
  host?: string;
  /** The port; 0, or left out: any free port. */
  port?: number;
  /** How long it keeps an idle connection, which it also announces; 5 s if left out. */
  keepAliveMs?: number;
};

export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  let respond = responder(options.respond ?? {});
  const requests: ReceivedRequest[] = [];
  const connections = { opened: 0, open: 0, resumed: 0 };
  const checks = new Set<() => void>();
  let isCheckDue = false;
  let drips = 0;

  // Checks once per turn of the event loop, so that a predicate over thousands of requests does not run for each one.
  function checkSoon(): void {
    if (isCheckDue || checks.size === 0) return;
    isCheckDue = true;
    setImmediate(() => {
      isCheckDue = false;
      for (const check of checks) check();
    });
  }

  function receive(incoming: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    response.on('error', () => {});
    incoming.on('end', () => {
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers as Record<string, string>,
        rawHeaders: incoming.rawHeaders,
        body: Buffer.concat(chunks),
        from: incoming.socket.remoteAddress ?? '',
        at: Date.now(),
      };
      requests.push(request);
      checkSoon();
      void answerWith(respond, request, requests.length - 1, response, () => (drips += 1));
    });
  }

  const server = options.tls
    ? createHttpsServer(options.tls, receive)
    : createHttpServer({ highWaterMark: 64 * 1024 }, receive);
  if (options.keepAliveMs !== undefined) server.keepAliveTimeout = options.keepAliveMs;
  server.on('connection', (socket) => {
    connections.opened += 1;
    connections.open += 1;
    socket.once('close', () => {
      connections.open -= 1;
    });
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.isSessionReused()) connections.resumed += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1', backlog: 4096 }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);

  return {
    url: `${options.tls ? 'https' : 'http'}://${options.host ?? '127.0.0.1'}:${port}`,
    port,
    requests,
    connections,
    drips: () => drips,
    respondWith: (answer) => {
      respond = responder(answer);
    },
    waitFor: (wanted, { timeoutMs = 100_000 } = {}) =>
      new Promise((resolve, reject) => {
        const isThere = typeof wanted === 'number' ? () => requests.length >= wanted : () => wanted(requests);
        if (isThere()) return resolve(requests);
        const timer = setTimeout(() => {
          checks.delete(check);
          reject(new Error(`after ${timeoutMs} ms: ${requests.length} requests, not what was waited for`));
        }, timeoutMs);
        const check = () => {
          if (!isThere()) return;
          checks.delete(check);
          clearTimeout(timer);
          resolve(requests);
        };
        checks.add(check);
      }),
    close,
  };
}

function responder(answer: Answer | Respond): Respond {
  return typeof answer === 'function' ? answer : () => answer;
}

async function answerWith(
  respond: Respond,
  request: ReceivedRequest,
  index: number,
  response: ServerResponse,
  noteDrip: () => void,
): Promise<void> {
  const { status = 200, headers = {}, body = '', delayMs = 0, fault } = await respond(request, index);
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (fault === 'hang') return;
  if (fault === 'reset') return reset(response.socket);
  response.writeHead(status, headers);
  if (fault === undefined) return void response.end(body);
  response.write(body || 'x');
  if (fault === 'drip') drip(response, noteDrip);
  if (fault === 'endless') pour(response);
  if (fault === 'cut') response.socket?.destroySoon();
}

function reset(socket: Socket | null): void {
  // Node cannot reset a TLS connection; ending it without a TLS goodbye has the same effect.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket?.resetAndDestroy();
}

function drip(response: ServerResponse, note: () => void): void {
  const timer = setInterval(() => response.write('x', note), 50);
  response.once('close', () => clearInterval(timer));
}

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}
