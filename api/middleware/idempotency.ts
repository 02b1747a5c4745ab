import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../shared/schemas/scopes.ts';
import type { Method } from '../endpoint.ts';

/** The Idempotency-Key of a POST or PATCH; null when there is none, or where it means nothing. */
export function idempotencyKeyOf(_request: IncomingMessage, _method: Method, _caller: Caller): string | null {
  return null;
}

/** What makes two requests the same: method, path, query and the bytes of the body. */
export function fingerprintOf(_request: IncomingMessage, _rawBody: Buffer): Buffer {
  return Buffer.alloc(32);
}
