import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../serve.ts';
import { percentile } from '../statistics.ts';

/**
 * The endpoints of many customers. `/ok/…` answers 200 at once, `/hang/…` takes the request and never answers,
 * `/dead/…` refuses with 503 until it is told to work. Only deliveries that are answered with 200 count.
 */
export interface Arrived {
  deliveries: number;
  /** Webhook-Ids that came more than once. */
  duplicates: number;
  /** From the event to its arrival. */
  p50Ms: number;
  p99Ms: number;
}

let latencies: number[] = [];
let ids = new Set<string>();
let duplicates = 0;
/** Deliveries to `/dead/…` once it works, in the order of arrival, with their times. */
let drained: { id: string; atMs: number }[] = [];
let isDead = true;
let awaited: { count: number; reached: () => void } | undefined;

const occurredAt = /"occurredAt":"([^"]+)"/;

function take(id: string, body: string): void {
  if (ids.has(id)) duplicates += 1;
  ids.add(id);
  latencies.push(Date.now() - Date.parse(occurredAt.exec(body)?.[1] ?? ''));
  if (awaited && ids.size >= awaited.count) awaited.reached();
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const id = String(request.headers['webhook-id']);
  const url = request.url ?? '';
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    // The head of the envelope says all that is wanted.
    if (body.length < 300) body += chunk;
  });
  request.on('end', () => {
    if (url.startsWith('/hang/')) return;
    if (url.startsWith('/dead/') && isDead) {
      response.writeHead(503).end();
      return;
    }
    if (url.startsWith('/dead/')) drained.push({ id, atMs: performance.now() });
    else take(id, body);
    response.end('ok');
  });
  request.on('error', () => undefined);
}

const server = http.createServer({ keepAliveTimeout: 30_000 }, answer);

serve({
  listen: () =>
    new Promise<number>((resolve) => {
      server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
        resolve((server.address() as AddressInfo).port),
      );
    }),
  reset: () => {
    [latencies, ids, duplicates, drained] = [[], new Set(), 0, []];
  },
  /** Resolves when `count` different deliveries have come since the reset. */
  reach: (count: number) =>
    new Promise<void>((resolve) => {
      awaited = { count, reached: resolve };
      if (ids.size >= count) resolve();
    }),
  arrived: (): Arrived => {
    const sorted = Float64Array.from(latencies).toSorted();
    return {
      deliveries: ids.size,
      duplicates,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
    };
  },
  revive: (works: boolean) => {
    isDead = !works;
  },
  drained: () => drained,
});
