import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { awaitable, listenOn, serve } from '../serve.ts';
import { type Latency, latencyOf } from '../statistics.ts';

/**
 * The endpoints of many customers. `/ok/…` answers 200 at once, `/hang/…` takes the request and never answers,
 * `/dead/…` refuses with 503 until a command makes it work. Only deliveries that are answered with 200 count.
 */
export interface Arrived extends Latency {
  deliveries: number;
  /** Webhook-Ids that came more than once. */
  duplicates: number;
}

/** From each event to its arrival. */
let latencies: number[] = [];
let ids = new Set<string>();
let duplicates = 0;
/** Deliveries to `/dead/…` once it works, in the order of arrival, with their times. */
let drained: { id: string; atMs: number }[] = [];
let isDead = true;
const { look, reach } = awaitable(() => ids.size);

const occurredAt = /"occurredAt":"([^"]+)"/;

function take(id: string, body: string): void {
  if (ids.has(id)) duplicates += 1;
  ids.add(id);
  latencies.push(Date.now() - Date.parse(occurredAt.exec(body)?.[1] ?? ''));
  look();
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const id = String(request.headers['webhook-id']);
  const url = request.url ?? '';
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    // The beginning of the envelope has everything that is needed.
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
  listen: () => listenOn(server),
  reset: () => {
    [latencies, ids, duplicates, drained] = [[], new Set(), 0, []];
  },
  /** Resolves when `count` different deliveries have come since the reset. */
  reach,
  arrived: (): Arrived => ({ deliveries: ids.size, duplicates, ...latencyOf(latencies) }),
  revive: (works: boolean) => {
    isDead = !works;
  },
  drained: () => drained,
});
