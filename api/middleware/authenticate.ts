import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { type ErrorCode, Problem, problem } from '../../shared/common/errors.ts';
import { type Release, semaphore } from '../../shared/common/semaphore.ts';
import { config } from '../../shared/config/config.ts';
import { networkIn } from '../../shared/formats/network-address.ts';
import type { Caller, Scope } from '../../shared/schemas/scopes.ts';
import { headerCount } from './request-form.ts';
import { type BucketResult, tokenBuckets } from './token-buckets.ts';

/** `mayLookUp` is called before the database is asked about a key that this process does not know. */
export type Authenticate = (token: string, mayLookUp: () => Promise<boolean>) => Promise<Caller | null>;

const longestHeader = 200;
// RFC 6750 §2.1; the scheme's case does not matter (RFC 9110 §11.1).
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Returns the caller that the Authorization header names. The refusal is the same, whatever is wrong with the header.
 */
export async function callerOf(
  request: Request,
  authenticate: Authenticate,
  failures: FailureLimit,
): Promise<Caller> {
  const token = bearerToken(request);
  if (token === undefined) throw problem('unauthenticated');
  try {
    const caller = await authenticate(token, () => failures.mayLookUp(request));
    if (!caller) throw problem('unauthenticated');
    failures.succeeded(request);
    return caller;
  } finally {
    failures.lookedUp(request);
  }
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
    throw problem('forbidden', { detail: `The API key or token lacks the scope ${missing.join(', ')}.` });
}

/** Unknown keys of one address that are looked up at once; further ones wait for up to `longestWaitMs`. */
const lookUpsAtOnce = 10;
const longestWaitMs = 2_000;
const mostWaiting = 1_000;

const failures: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'signature_required',
  'signature_invalid',
]);

/**
 * Counts failed authentications by the client's address. Past the limit each further failure is a 429, and a key that
 * no process knows is refused without a look-up in the database. Known keys still work, because many customers may
 * share an address.
 */
export function failureLimit() {
  const perMinute = config.AUTH_FAILURES_PER_MINUTE;
  const burst = Math.max(1, Math.floor(perMinute));
  const buckets = tokenBuckets([{ kind: 'address', perSecond: perMinute / 60, burst }]);

  // A key that this process does not know counts as a failure before its look-up. Otherwise many at once would all be
  // looked up before the first is counted.
  const counted = new WeakMap<Request, BucketResult>();
  // A good key gives its token back. Only a few look-ups of an address run at once, so that many good keys at once do
  // not use up the failures of their address: after a start the process knows no key.
  const turns = semaphore({
    permits: () => Math.min(lookUpsAtOnce, burst),
    waitMs: longestWaitMs,
    mostWaiting,
  });
  const held = new WeakMap<Request, Release>();

  async function mayLookUp(request: Request): Promise<boolean> {
    if (perMinute === 0) return true;
    const network = networkOf(request);
    const release = await turns.acquire(network);
    if (release) held.set(request, release);
    const taken = await buckets.take([network]);
    counted.set(request, taken);
    return taken.refusedBy === null;
  }

  /** Ends the look-up of this request, if it needed one. */
  function lookedUp(request: Request): void {
    held.get(request)?.();
  }

  /** Takes back the counted failure of a request whose key was good. */
  function succeeded(request: Request): void {
    const taken = counted.get(request);
    if (!taken) return;
    counted.delete(request);
    if (!taken.refusedBy) buckets.putBack([networkOf(request)]);
  }

  /** Returns the error to answer with: a 429 past the limit of failures, otherwise the error that was thrown. */
  async function refusalFor(request: Request, thrown: unknown): Promise<unknown> {
    if (perMinute === 0 || !(thrown instanceof Problem) || !failures.has(thrown.code)) return thrown;
    const { refusedBy, retryAfterSeconds } =
      counted.get(request) ?? (await buckets.take([networkOf(request)]));
    if (!refusedBy) return thrown;
    const detail = `One IP address may make at most ${perMinute} failed authentications a minute.`;
    return problem('rate_limited', { retryAfterSeconds, detail });
  }

  return { mayLookUp, lookedUp, succeeded, refusalFor };
}

export type FailureLimit = ReturnType<typeof failureLimit>;

/**
 * Returns the address, or the part of it that a client cannot choose: of IPv6 the /64, because one client usually has
 * all of it. A /48 is what a site or a tunnel has.
 */
export function networkOf(request: Request, bits: 48 | 64 = 64): string {
  const { ip = '', socket } = request;
  // A proxy may have written no address, or one with a port, which would differ from connection to connection.
  return networkIn(ip, bits) ?? networkIn(socket.remoteAddress ?? '', bits) ?? 'unknown';
}
