import type { Request, Response } from 'express';
import { catalogue, type ErrorCode, Problem, problem } from '../../shared/common/errors.ts';
import { logger } from '../../shared/common/logger.ts';
import { config } from '../../shared/config/config.ts';
import type { ProblemDocument } from '../../shared/schemas/problem.ts';
import { endAfterRequest } from './raw-body.ts';

const defaultRetryAfterSeconds = 5;
const connectionErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
]);

/** The address of the page about a code; also the `type` of its problems. */
export function problemAddress(code: ErrorCode): string {
  return `${config.PUBLIC_URL}/problems/${code}`;
}

export type WrittenProblem = { type: string; body: string };

/** Returns the problem document and its headers, apart from Request-Id. `write` gives the document another form. */
export function problemAnswer(
  refusal: Problem,
  requestId: string,
  write: (document: ProblemDocument) => WrittenProblem = asJson,
) {
  const { status, title, help } = catalogue[refusal.code];
  const { detail, errors, retryAfterSeconds } = refusal.options;
  const document: ProblemDocument = {
    type: problemAddress(refusal.code),
    title,
    status,
    detail: detail ?? help,
    ...(errors && { errors }),
    requestId,
  };
  const { type, body } = write(document);
  const headers: Record<string, string | number> = {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...refusal.options.headers,
  };
  const wait = retryAfterSeconds ?? (status === 503 ? defaultRetryAfterSeconds : undefined);
  if (wait !== undefined) headers['Retry-After'] = Math.max(1, Math.ceil(wait));
  if (status === 401) headers['WWW-Authenticate'] ??= 'Bearer';
  return { status, headers, body };
}

function asJson(document: ProblemDocument): WrittenProblem {
  return { type: 'application/problem+json', body: JSON.stringify(document) };
}

/** Answers with a problem document, or in the form that `write` gives it, whatever was thrown. */
export function sendProblem(
  request: Request,
  response: Response,
  thrown: unknown,
  write?: (document: ProblemDocument) => WrittenProblem,
): void {
  const requestId: string = response.locals.requestId;
  if (response.headersSent || response.destroyed) {
    logger.debug({ err: thrown, requestId }, 'the answer to a request could not be sent');
    request.socket.destroy();
    return;
  }
  const refusal = toProblem(thrown, requestId);
  const { status, headers, body } = problemAnswer(refusal, requestId, write);
  endAfterRequest(request, response, status, headers, body);
}

function toProblem(thrown: unknown, requestId: string): Problem {
  if (thrown instanceof Problem) return thrown;
  // The router throws this for an id in the path that is not percent-encoded UTF-8.
  if (thrown instanceof URIError) return problem('not_found');
  logger.error({ err: thrown, requestId }, 'a request failed');
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return problem(connectionErrors.has(String(code)) ? 'service_unavailable' : 'internal_error');
}

/**
 * Refuses the methods that a path does not have. If no operation takes the id in the path, such as `lookup`, the path
 * is unknown instead.
 */
export function methodNotAllowed(allow: string, isPath: (params: unknown) => boolean = () => true) {
  return ({ params }: Pick<Request, 'params'>): never => {
    if (!isPath(params)) throw noSuchPath();
    throw problem('method_not_allowed', { headers: { Allow: allow } });
  };
}

export function unknownPath({ path }: Pick<Request, 'path'>): never {
  throw noSuchPath(path.endsWith('/') ? '. Remove the slash at its end' : '');
}

function noSuchPath(advice = ''): Problem {
  return problem('not_found', { detail: `The path is unknown: no operation or page has it${advice}.` });
}
