import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { problem } from '../../shared/common/errors.ts';
import type { Caller } from '../../shared/schemas/scopes.ts';
import type { Method } from '../endpoint.ts';
import { hashOf } from './large-body.ts';
import type { RawBody } from './raw-body.ts';
import { headerCount } from './request-form.ts';

const visibleAscii = /^[!-~]{1,255}$/;

/** Whether operations of this method take an Idempotency-Key. */
export function takesIdempotencyKey(method: Method): boolean {
  return method === 'post' || method === 'patch';
}

/** The Idempotency-Key of a POST or PATCH; null if there is none, or if the method takes none. */
export function idempotencyKeyOf(request: IncomingMessage, method: Method, caller: Caller): string | null {
  if (!takesIdempotencyKey(method)) return null;
  const header = request.headers['idempotency-key'];
  if (header === undefined) {
    if (!caller.strictMode) return null;
    throw problem('idempotency_key_required', {
      detail: 'The API key is in strict mode: the header Idempotency-Key is missing.',
    });
  }
  // Node joins several lines to one value that no client has sent.
  if (headerCount(request, 'idempotency-key') !== 1)
    throw problem('idempotency_key_invalid', {
      detail: 'The header Idempotency-Key was sent more than once.',
    });
  if (typeof header !== 'string' || !visibleAscii.test(header))
    throw problem('idempotency_key_invalid', {
      detail: 'The header Idempotency-Key must have 1 to 255 visible ASCII characters.',
    });
  return header;
}

/**
 * Hashes the parts that make two requests the same: method, path, query and the bytes of the body, as sent. A target
 * has neither space nor line break, so the parts cannot run into each other.
 */
export function fingerprintOf(request: IncomingMessage, rawBody: RawBody): Buffer | Promise<Buffer> {
  const target = `${request.method} ${request.url}\n`;
  return Buffer.isBuffer(rawBody)
    ? createHash('sha256').update(target).update(rawBody).digest()
    : hashOf(rawBody, 'sha256', target);
}
