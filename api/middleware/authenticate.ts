import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { config } from '../../shared/config.ts';
import { type ErrorCode, Problem, problem } from '../../shared/errors.ts';
import { networkIn } from '../../shared/formats/network-address.ts';
import type { Caller, Scope } from '../../shared/schemas/scopes.ts';
import { headerCount } from './request-form.ts';
import { tokenBuckets } from './token-buckets.ts';

export type Authenticate = (token: string) => Promise<Caller | null>;

const longestHeader = 200;
// RFC 6750 §2.1; the scheme's case does not matter (RFC 9110 §11.1).
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The caller that the Authorization header names. Whatever is wrong with it, the refusal is the same. */
export async function callerOf(request: IncomingMessage, authenticate: Authenticate): Promise<Caller> {
  const token = bearerToken(request);
  const caller = token === undefined ? null : await authenticate(token);
  if (!caller) throw problem('unauthenticated');
  return caller;
}

function bearerToken(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > longestHeader || headerCount(request, 'authorization') !== 1)
    return undefined;
  return bearer.exec(header)?.[1];
}

export function requireScopes(caller: Caller, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !caller.scopes.has(scope));
  if (missing.length > 0)
    throw problem('forbidden', { detail: `The key lacks the scope ${missing.join(', ')}.` });
}

const failures: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'signature_invalid']);

/**
 * Counts failed authentications by the client's address. Past the limit each further one is a 429; a valid key is
 * never looked at here, because many customers may share an address.
 */
export function failureLimit() {
  const perMinute = config.AUTH_FAILURES_PER_MINUTE;
  const burst = Math.max(1, Math.floor(perMinute));
  const buckets = tokenBuckets([{ kind: 'address', perSecond: perMinute / 60, burst }]);

  /** What to answer instead of this error; the error itself unless it is a failure too many. */
  async function refusalFor(request: Request, thrown: unknown): Promise<unknown> {
    if (perMinute === 0 || !(thrown instanceof Problem) || !failures.has(thrown.code)) return thrown;
    const { refusedBy, retryAfterSeconds } = await buckets.take([networkOf(request)]);
    if (!refusedBy) return thrown;
    const detail = `There may be ${perMinute} failed authentications a minute from one address.`;
    return problem('rate_limited', { retryAfterSeconds, detail });
  }

  return { refusalFor };
}

export type FailureLimit = ReturnType<typeof failureLimit>;

/** The address that a client cannot choose: of IPv6 the /64, because all of one is usually in one hand. */
export function networkOf(request: Request): string {
  const { ip = '', socket } = request;
  // What a proxy has written may be no address, or one with a port, which would be another each time.
  return networkIn(ip) ?? networkIn(socket.remoteAddress ?? '') ?? 'unknown';
}
