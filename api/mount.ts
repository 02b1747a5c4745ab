import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Express, Request, RequestHandler, Response } from 'express';
import { Problem } from '../shared/common/errors.ts';
import type { Version } from '../shared/common/versions.ts';
import { config } from '../shared/config/config.ts';
import * as idempotency from '../shared/domain/requests/idempotency.ts';
import type { Caller } from '../shared/schemas/scopes.ts';
import { csvOf, prefersCsv } from './csv.ts';
import { type Endpoint, type Method, Other, Serialized, Unfinished } from './endpoint.ts';
import { type Authenticate, callerOf, type FailureLimit, requireScopes } from './middleware/authenticate.ts';
import { noUpload, parseForm } from './middleware/form-body.ts';
import { fingerprintOf, idempotencyKeyOf } from './middleware/idempotency.ts';
import { parseBody } from './middleware/json-body.ts';
import {
  type Pace,
  paced,
  parseLargeBody,
  refuseWhileFull,
  sendBody,
  unpaced,
} from './middleware/large-body.ts';
import { methodNotAllowed, sendProblem } from './middleware/problems.ts';
import { callerLimits } from './middleware/rate-limit.ts';
import { type RawBody, readBody, smallBodyBytes } from './middleware/raw-body.ts';
import { acceptSignature, verifySignature } from './middleware/request-signature.ts';
import { serviceVersion } from './middleware/service-version.ts';
import { refusalOf, validate } from './validation.ts';

export type Doors = {
  authenticate: Authenticate;
  /** Runs the work of a request with connections of the workspace's share. */
  inShareOf: <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;
  transaction: <T>(work: () => Promise<T>) => Promise<T>;
};
type Steps = Doors & { failures: FailureLimit; limits: ReturnType<typeof callerLimits> };

const smallBodyMs = 30_000;
const largeBodyMs = 120_000;
const rateSeconds = 10;

/** Gives every declared operation its route, and every other method of its path a 405. */
export function mount(
  app: Express,
  endpoints: readonly Endpoint[],
  doors: Doors & { failures: FailureLimit },
): void {
  const steps = { ...doors, limits: callerLimits() };
  for (const [path, siblings] of Map.groupBy(endpoints, ({ path }) => path)) {
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of siblings) route[endpoint.method](serve(endpoint, steps));
    const isPath = (params: unknown) => siblings.some((one) => one.params?.safeParse(params).success ?? true);
    route.all(methodNotAllowed(allowed(siblings.map(({ method }) => method)), isPath));
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
    response.locals.operation = endpoint.id;
    try {
      await answer(endpoint, steps, request, response);
    } catch (thrown) {
      sendProblem(request, response, await steps.failures.refusalFor(request, thrown));
    }
  };
}

async function answer(endpoint: Endpoint, steps: Steps, request: Request, response: Response): Promise<void> {
  const caller = await callerOf(request, steps.authenticate, steps.failures);
  response.locals.caller = caller;
  const { refusal, headers } = await steps.limits.take(caller);
  // A request past its rate limit is not checked, because a check takes processor time.
  const signature = refusal ?? signatureOf(request, caller);
  // A stolen key without its signing secret must not use up the requests of its owner.
  if (signature instanceof Problem && !refusal) steps.limits.putBack(caller);
  for (const name in headers) response.setHeader(name, headers[name]!);
  requireScopes(caller, endpoint.scopes);
  const version = serviceVersion(request, caller);
  response.setHeader('Service-Version', version);
  if (signature instanceof Problem) throw signature;
  const idempotencyKey = idempotencyKeyOf(request, endpoint.method, caller);

  const limitBytes = endpoint.bodyLimitBytes;
  const busyCode = endpoint.problems.includes('email_not_queued')
    ? 'email_not_queued'
    : 'service_unavailable';
  const owner = caller.workspaceId;
  const rawBody = await readBody(request, response, {
    isForm: endpoint.takesFile,
    limitBytes,
    timeoutMs: limitBytes > smallBodyBytes ? largeBodyMs : smallBodyMs,
    leastRate: { bytes: config.LARGE_BODY_BYTES_PER_SECOND * rateSeconds, withinMs: rateSeconds * 1000 },
    owner,
    busyCode,
  });
  const admitted = { endpoint, steps, request, response, caller, version, signature, idempotencyKey };
  const deal = (pace: Pace) => steps.inShareOf(owner, () => carryOut(admitted, rawBody, pace));
  if (Buffer.isBuffer(rawBody)) return deal(unpaced);
  try {
    await paced(owner, busyCode, deal);
  } finally {
    rawBody.discard();
  }
}

function signatureOf(request: Request, caller: Caller) {
  try {
    return verifySignature(request, caller);
  } catch (fault) {
    if (fault instanceof Problem) return fault;
    throw fault;
  }
}

const longInOneTurn = 256 * 1024;

/** A request that has passed all checks before its body. */
type Admitted = {
  endpoint: Endpoint;
  steps: Steps;
  request: Request;
  response: Response;
  caller: Caller;
  version: Version;
  signature: ReturnType<typeof verifySignature>;
  idempotencyKey: string | null;
};

async function carryOut(admitted: Admitted, rawBody: RawBody, pace: Pace): Promise<void> {
  const { endpoint, steps, request, caller, version, signature, idempotencyKey } = admitted;
  const { workspaceId, lineageId } = caller;
  const transaction = <T>(work: () => Promise<T>) => {
    const checked = async () => {
      refuseWhileFull(workspaceId);
      return work();
    };
    return pace.store(() => steps.transaction(checked));
  };
  // The signature covers the bytes, so it is checked before their content is read.
  await acceptSignature(signature, rawBody, pace);
  const read = async () => {
    const { body, upload } = await readParts(endpoint, request, rawBody);
    // Parsing a body of megabytes and checking it both take long enough for a turn of their own.
    if (rawBody.byteLength > longInOneTurn) await nextTurn();
    return { upload, ...validate(endpoint, request.params, search(request), body) };
  };
  let abandon = async () => {};
  // Does all that needs no transaction. The function that it returns runs in one, and again from the start after a
  // deadlock.
  const prepare = async () => {
    const checked = await pace.read(read);
    if ('errors' in checked) throw await refusalOf(endpoint, { caller, version }, checked);
    const input = { caller, version, ...checked };
    const prepared = await endpoint.prepare?.(input);
    abandon = async () => endpoint.abandon?.({ ...input, prepared });
    return async () => outcomeOf(endpoint, await endpoint.handle({ ...input, prepared }));
  };
  const perform = async () => {
    if (idempotencyKey === null) {
      const work = await prepare();
      const outcome = await (endpoint.method === 'get' ? work() : transaction(work));
      return { answer: await idempotency.finish(outcome), isReplayed: false };
    }
    const fingerprint = await pace.read(async () => fingerprintOf(request, rawBody));
    return idempotency.once(
      { workspaceId, lineageId, key: idempotencyKey, fingerprint },
      prepare,
      transaction,
    );
  };
  const { answer: made, isReplayed } = await perform().catch(async (error: unknown) => {
    await abandon();
    throw error;
  });
  // Another process was first, with the same request.
  if (isReplayed) await abandon();
  send(admitted, made, isReplayed);
}

async function readParts(endpoint: Endpoint, request: Request, rawBody: RawBody) {
  if (endpoint.takesFile) return parseForm(request, rawBody, endpoint.freeForm);
  const body = Buffer.isBuffer(rawBody)
    ? parseBody(rawBody, endpoint.freeForm, endpoint.bodyLimitValues)
    : await parseLargeBody(rawBody, endpoint);
  return { body, upload: noUpload };
}

function search(request: Request): string {
  const start = request.url.indexOf('?');
  return start < 0 ? '' : request.url.slice(start + 1);
}

function outcomeOf(endpoint: Endpoint, handled: unknown): idempotency.RequestOutcome {
  if (!(handled instanceof Unfinished)) return { answer: answerOf(endpoint, handled), ending: null };
  const { withinMs, finish } = handled.ending;
  const ending = {
    withinMs,
    finish: async () => {
      const ended = await finish();
      return ended instanceof Problem ? ended : answerOf(endpoint, ended);
    },
  };
  return { answer: answerOf(endpoint, handled.soFar), ending };
}

function answerOf({ status, otherStatus, location }: Endpoint, handled: unknown): idempotency.StoredAnswer {
  const isOther = handled instanceof Other;
  const result: unknown = isOther ? handled.value : handled;
  const chosen = isOther ? otherStatus!.status : status;
  return {
    status: chosen,
    location: chosen === 201 ? config.PUBLIC_URL + location(result) : null,
    body: chosen === 204 ? null : result instanceof Serialized ? result.json : JSON.stringify(result),
  };
}

/** Sends JSON; CSV where the operation has rows for it and the caller prefers it. */
function send(
  { endpoint, request, response, caller }: Admitted,
  { status, location, body }: idempotency.StoredAnswer,
  isReplayed: boolean,
): void {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  if (location !== null) headers.Location = location;
  if (isReplayed) headers['Idempotent-Replayed'] = 'true';
  if (body === null) {
    response.writeHead(status, headers).end();
    return;
  }
  if (endpoint.csv) response.vary('Accept');
  const isCsv = endpoint.csv && prefersCsv(request);
  const text = isCsv ? csvOf(endpoint.response!, JSON.parse(body).data) : body;
  headers['Content-Type'] = isCsv ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8';
  headers['X-Content-Type-Options'] = 'nosniff';
  const mayRefuse = isReplayed || endpoint.method === 'get';
  sendBody(response, text, { status, headers, owner: caller.workspaceId, mayRefuse });
}
