import type { Express, Request, RequestHandler, Response } from 'express';
import { config } from '../shared/config.ts';
import * as idempotency from '../shared/domain/idempotency.ts';
import { problem } from '../shared/errors.ts';
import type { Caller } from '../shared/schemas/scopes.ts';
import type { Endpoint, Method } from './endpoint.ts';
import { type Authenticate, callerOf, requireScopes } from './middleware/authenticate.ts';
import { fingerprintOf, idempotencyKeyOf } from './middleware/idempotency.ts';
import { methodNotAllowed, sendProblem } from './middleware/problems.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { parseBody, readBody } from './middleware/raw-body.ts';
import { requireSignature, verifySignature } from './middleware/request-signature.ts';
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
  const allowance = steps.limiter.take(caller);
  for (const name in allowance.headers) response.setHeader(name, allowance.headers[name]!);
  requireScopes(caller, endpoint.scopes);
  const version = serviceVersion(request, caller);
  response.setHeader('Service-Version', version);
  if (!allowance.isAllowed) throw problem('rate_limited', { retryAfterSeconds: allowance.retryAfterSeconds });
  requireSignature(request, caller);
  const idempotencyKey = idempotencyKeyOf(request, endpoint.method, caller);

  const limitBytes = endpoint.bodyLimitBytes;
  const timeoutMs = limitBytes > smallBodyBytes ? largeBodyMs : smallBodyMs;
  const rawBody = await readBody(request, response, { limitBytes, timeoutMs });
  // Over the bytes, before anything in them is looked at.
  await verifySignature(request, rawBody, caller);
  const attempt = idempotencyKey === null ? null : attemptOf(caller, idempotencyKey, request, rawBody);
  // Before the request is validated: what was right the first time may have become wrong since, as a time does.
  const known = attempt && (await idempotency.findAnswer(attempt));
  if (known) return send(response, known, { isReplayed: true });

  const input = {
    caller,
    version,
    ...validate(endpoint, request.params, search(request), parseBody(rawBody)),
  };
  const prepared = await endpoint.prepare?.(input);
  const work = async () => answerOf(endpoint, await endpoint.handle({ ...input, prepared }));
  if (endpoint.method === 'get') return send(response, await work());
  if (!attempt) return send(response, await steps.transaction(work));
  const { answer: made, isReplayed } = await idempotency.once(attempt, steps.transaction, work);
  send(response, made, { isReplayed });
}

function attemptOf(caller: Caller, key: string, request: Request, rawBody: Buffer): idempotency.Attempt {
  const { workspaceId, lineageId } = caller;
  return { workspaceId, lineageId, key, fingerprint: fingerprintOf(request, rawBody) };
}

function search(request: Request): string {
  const start = request.url.indexOf('?');
  return start < 0 ? '' : request.url.slice(start + 1);
}

function answerOf(endpoint: Endpoint, result: unknown): idempotency.Answer {
  return {
    status: endpoint.status,
    location: endpoint.location ? config.PUBLIC_URL + endpoint.location(result) : null,
    body: endpoint.status === 204 ? null : JSON.stringify(result),
  };
}

function send(
  response: Response,
  { status, location, body }: idempotency.Answer,
  { isReplayed = false } = {},
): void {
  const headers: Record<string, string | number> = { 'Cache-Control': 'no-store' };
  if (location !== null) headers.Location = location;
  if (isReplayed) headers['Idempotent-Replayed'] = 'true';
  if (body === null) {
    response.writeHead(status, headers).end();
    return;
  }
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['X-Content-Type-Options'] = 'nosniff';
  headers['Content-Length'] = Buffer.byteLength(body);
  response.writeHead(status, headers).end(body);
}
