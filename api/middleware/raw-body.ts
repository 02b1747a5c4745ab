import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { problem } from '../../shared/common/errors.ts';
import {
  type BodyOptions,
  collect,
  type RawBody,
  reservationFor,
  smallBodyBytes,
  tooLarge,
} from './arriving-body.ts';
import { isForm } from './form-type.ts';
import { headerCount } from './request-form.ts';

export { type RawBody, smallBodyBytes } from './arriving-body.ts';

const noBody = Buffer.alloc(0);
/** An unread rest of this size is read and thrown away, so that the connection can be used again. */
const smallRestBytes = 64 * 1024;
const lingerMs = 5_000;

/**
 * Returns the bytes of the body, exactly as sent; none when there is no body. Refuses by the headers where it can, so
 * that a body of the wrong type or size is never read. The caller has to discard a large body.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  options: BodyOptions,
): Promise<RawBody> {
  const { headers } = request;
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0))
    return noBody;
  checkMediaType(request, options.isForm === true);
  if (Number(length) > options.limitBytes) throw tooLarge(options.limitBytes);
  const announced = Number(length) > smallBodyBytes ? reservationFor(options, Number(length)) : null;
  if (headers.expect !== undefined) response.writeContinue();
  return await collect(request, options, announced);
}

function checkMediaType(request: IncomingMessage, wantsForm: boolean): void {
  const type = request.headers['content-type'];
  const fits = type !== undefined && (wantsForm ? isForm(type) : isJson(type));
  if (!fits || headerCount(request, 'content-type') !== 1)
    throw problem(
      'unsupported_media_type',
      wantsForm ? { detail: 'Send a form, with the header Content-Type: multipart/form-data.' } : {},
    );
  if (request.headers['content-encoding'] !== undefined)
    throw problem('unsupported_media_type', { detail: 'The body must not have a Content-Encoding.' });
}

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

function isJson(type: string): boolean {
  return type === 'application/json' || jsonType.test(type);
}

/**
 * Answers, also when the request has not been read to its end. Closing a socket with unread bytes resets it, and
 * the client would lose the answer; so the rest is read for a while after the answer is out (RFC 9112 §9.6).
 */
export function endAfterRequest(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string,
): void {
  if (request.complete || isRestSmall(request)) {
    response.writeHead(status, headers).end(body);
    return;
  }
  response.writeHead(status, { ...headers, Connection: 'close' });
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(body);
  const timer = setTimeout(() => request.socket.destroy(), lingerMs).unref();
  request
    .once('end', () => response.end())
    .once('close', () => clearTimeout(timer))
    .resume();
}

function isRestSmall(request: IncomingMessage): boolean {
  const { headers } = request;
  // Node throws the rest away by itself only while nobody has begun to read it.
  const isUntouched = request.readableFlowing === null;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const waitsToSend = headers.expect !== undefined;
  return (
    isUntouched && !isChunked && !waitsToSend && Number(headers['content-length'] ?? 0) <= smallRestBytes
  );
}
