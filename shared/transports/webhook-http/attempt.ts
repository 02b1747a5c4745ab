import { parsedUrl } from '../../common/parsed-url.ts';
import { product } from '../../config/config.ts';
import { ConnectError, type ConnectionFailure } from './connect.ts';
import type { ConnectionPool, PooledHandler, PooledRequest } from './connection-pool.ts';

export type AttemptOutcome = {
  url: string;
  body: Buffer;
  /** The type of the body, its delivery and its signatures: lower-case names. */
  headers: Record<string, string>;
  /** The time for the whole attempt: name, connection, TLS, sending, status line. */
  timeoutMs: number;
  /** Bytes of the answer's body that are handed back; 1,024 when left out. */
  keptBytes?: number;
  /** The request is not sent again, even if a kept connection was closed, because the endpoint may have got it. */
  isSentOnce?: boolean;
};

type WebhookAttemptError = ConnectionFailure | 'timeout' | 'http_status';

export type WebhookAttemptResult = {
  /** The time until the status line, or until the failure. */
  durationMs: number;
  responseStatus: number | null;
  /** False where nothing of the request can have arrived: the connection was not there yet. */
  isSent: boolean;
  /** The first bytes of the body, as text without NULs; null when there are none. */
  responseBody: string | null;
  /** Null after a 2xx. */
  error: WebhookAttemptError | null;
  retryAfter: string | null;
};

const mostBytesRead = 64 * 1024;
const mostBytesKept = 1024;

const userAgent = `${product.name}/${product.version}`;

/** Posts an attempt. Rejects only for a fault on our own side. */
export function post(connections: ConnectionPool, attempt: AttemptOutcome): Promise<WebhookAttemptResult> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const request = requestOf(attempt);
    const body = bodyExcerpt(attempt.keptBytes ?? mostBytesKept);
    let status: number | null = null;
    let retryAfter: string | null = null;
    let durationMs = 0;
    let isReused = false;
    let isSent = false;
    let isAnswered = false;
    let isOver = false;

    const timer = setTimeout(() => setImmediate(expire), attempt.timeoutMs);

    function end(error: WebhookAttemptError | null): void {
      isOver = true;
      clearTimeout(timer);
      if (status === null) durationMs = performance.now() - startedAt;
      resolve({
        durationMs: Math.round(durationMs),
        responseStatus: status,
        isSent,
        responseBody: body.text(),
        error,
        retryAfter,
      });
    }

    // The status line decides, however the body ends.
    const endByStatus = (code: number) => end(code >= 200 && code <= 299 ? null : 'http_status');

    // This runs one turn of the event loop late, so that after a stall of this process an answer that has already
    // arrived still counts.
    function expire(): void {
      if (isOver) return;
      if (status === null) end('timeout');
      else endByStatus(status);
      giveUp('deadline passed');
    }

    /** Closes the connection, because more data on it would be read as the answer to the next request. */
    const giveUp = (why: string) => handler.connection?.breakOff(new Error(why));

    const handler: PooledHandler = {
      connection: undefined,
      isOver: () => isOver,
      onRequestStart(controller) {
        isReused = handler.connection !== undefined && handler.connection.answers > 0;
        if (isOver) return controller.abort(new Error('deadline passed'));
        isSent = true;
      },
      onResponseStarted() {
        isAnswered = true;
      },
      onResponseStart(_controller, statusCode, headers) {
        if (statusCode < 200) return;
        status = statusCode;
        durationMs = performance.now() - startedAt;
        const wait = headers['retry-after'];
        retryAfter = (Array.isArray(wait) ? wait[0] : wait) ?? null;
      },
      onResponseData(_controller, chunk) {
        if (isOver || status === null) return;
        body.add(chunk);
        if (body.bytesRead() < mostBytesRead) return;
        endByStatus(status);
        giveUp('read enough');
      },
      onResponseEnd() {
        if (handler.connection) handler.connection.answers += 1;
        if (!isOver && status !== null) endByStatus(status);
      },
      onResponseError(_controller, error) {
        if (isOver) return;
        if (status !== null) return endByStatus(status);
        const wentStale = isReused && !isAnswered && !attempt.isSentOnce && staleCodes.has(codeOf(error));
        if (wentStale) {
          isReused = false;
          handler.connection = undefined;
          return connections.dispatchOnce(request, handler);
        }
        const failure = failureOf(error);
        if (failure) return end(failure);
        isOver = true;
        clearTimeout(timer);
        reject(error);
      },
    };
    connections.dispatch(request, handler);
  });
}

function requestOf({ url: address, body, headers }: AttemptOutcome): PooledRequest {
  const url = parsedUrl(address);
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'POST',
    headers: {
      // Some firewalls in front of endpoints distrust a request without Accept.
      accept: '*/*',
      'user-agent': userAgent,
      ...headers,
    },
    body,
  };
}

function bodyExcerpt(most: number) {
  const kept: Buffer[] = [];
  let read = 0;
  return {
    bytesRead: () => read,
    add(chunk: Buffer): void {
      if (read < most) kept.push(chunk.subarray(0, most - read));
      read += chunk.length;
    },
    text(): string | null {
      if (read === 0) return null;
      const bytes = kept[0] && kept.length === 1 ? kept[0] : Buffer.concat(kept);
      // Decoded as a stream, so that a character that our own cut has halved is left out.
      const text = read > most ? new TextDecoder().decode(bytes, { stream: true }) : bytes.toString();
      return text.replaceAll('\0', '') || null;
    },
  };
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/**
 * The errors of a kept connection that the server had closed before our request arrived. The request is then sent once
 * more, on a new connection. The endpoint may have processed the first one, as after any failed attempt that is
 * repeated minutes later, and recognises the second by its Webhook-Id.
 */
const staleCodes = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** Faults of this process, which must not count against an endpoint. */
const ownFaults = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

function failureOf(error: Error): ConnectionFailure | undefined {
  const cause = error instanceof ConnectError && error.cause instanceof Error ? error.cause : error;
  // A local address that this machine does not have.
  if (ownFaults.has(codeOf(cause)) || (cause as NodeJS.ErrnoException).syscall === 'bind') return undefined;
  return error instanceof ConnectError ? error.failure : 'connection';
}
