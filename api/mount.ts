import type { Express, Request, RequestHandler, Response } from 'express';
import { config } from '../shared/config.ts';
import { problem } from '../shared/errors.ts';
import type { Endpoint, Method } from './endpoint.ts';
import { type Authenticate, callerOf, requireScopes } from './middleware/authenticate.ts';
import { methodNotAllowed, sendProblem } from './middleware/problems.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { parseBody, readBody } from './middleware/raw-body.ts';
import { serviceVersion } from './middleware/service-version.ts';
import { validate } from './validation.ts';

export type Doors = {
  authenticate: Authenticate;
  transaction: <T>(work: () => Promise<T>) => Promise<T>;
};
type Steps = Doors & { limiter: ReturnType<typeof rateLimit> };

const smallBodyBytes = 1024 * 1024;
const smallBodyMs = 30_000;
const largeBodyMs = 120_000;

/** Gives every declared operation its route, and every other method of its path a 405. */
export function mount(app: Express, endpoints: readonly Endpoint[], doors: Doors): void {
  const steps = { ...doors, limiter: rateLimit(config.RATE_LIMIT_PER_SECOND) };
  for (const [path, siblings] of Map.groupBy(endpoints, ({ path }) => path)) {
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of siblings) route[endpoint.method](serve(endpoint, steps));
    route.all(methodNotAllowed(allowed(siblings.map(({ method }) => method))));
  }
}

function allowed(methods: Method[]): string {
  return methods
    .flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
    .join(', ');
}

// One handler runs all steps of a request: a chain of small ones costs more than most of the steps do.
function serve(endpoint: Endpoint, steps: Steps): RequestHandler {
  return async (request, response) => {
    try {
      await answer(endpoint, steps, request, response);
    } catch (thrown) {
      sendProblem(request, response, thrown);
    }
  };
}

async function answer(endpoint: Endpoint, steps: Steps, request: Request, response: Response): Promise<void> {
  const caller = await callerOf(request, steps.authenticate);
  response.locals.caller = caller;
  const allowance = steps.limiter.take(caller.keyId);
  for (const name in allowance.headers) response.setHeader(name, allowance.headers[name]!);
  requireScopes(caller, endpoint.scopes);
  const version = serviceVersion(request, caller);
  response.setHeader('Service-Version', version);
  if (!allowance.isAllowed) throw problem('rate_limited', { retryAfterSeconds: allowance.retryAfterSeconds });

  const limitBytes = endpoint.bodyLimitBytes;
  const timeoutMs = limitBytes > smallBodyBytes ? largeBodyMs : smallBodyMs;
  const rawBody = await readBody(request, response, { limitBytes, timeoutMs });
  // Place of the request signature: over rawBody, before anything in it is looked at.
  const body = parseBody(rawBody);
  const input = { caller, version, ...validate(endpoint, request.params, search(request), body) };
  const prepared = await endpoint.prepare?.(input);
  // Place of the idempotency record: the first row of the transaction.
  const work = async () => endpoint.handle({ ...input, prepared });
  const result = endpoint.method === 'get' ? await work() : await steps.transaction(work);
  sendResult(endpoint, response, result);
}

function search(request: Request): string {
  const start = request.url.indexOf('?');
  return start < 0 ? '' : request.url.slice(start + 1);
}

function sendResult(endpoint: Endpoint, response: Response, result: unknown): void {
  const headers: Record<string, string | number> = { 'Cache-Control': 'no-store' };
  if (endpoint.location) headers.Location = config.PUBLIC_URL + endpoint.location(result);
  if (endpoint.status === 204) {
    response.writeHead(204, headers).end();
    return;
  }
  const body = JSON.stringify(result);
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['X-Content-Type-Options'] = 'nosniff';
  headers['Content-Length'] = Buffer.byteLength(body);
  response.writeHead(endpoint.status, headers).end(body);
}
