import type { IncomingMessage } from 'node:http';
import { problem } from '../../shared/errors.ts';
import type { Caller, Scope } from '../../shared/schemas/scopes.ts';
import { headerCount } from './request-form.ts';

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
