import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { problem } from '../../shared/errors.ts';
import { headerCount } from './request-form.ts';

const noBody = Buffer.alloc(0);
const maxDepth = 32;
/** A rest this small is read and forgotten, so that the connection can be used again. */
const smallRestBytes = 64 * 1024;
const lingerMs = 5_000;

type BodyOptions = { limitBytes: number; timeoutMs: number };

/**
 * The bytes of the body, exactly as sent; none when there is no body. Refuses by the headers what it can, so that
 * a body of the wrong kind or size is never read.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limitBytes, timeoutMs }: BodyOptions,
): Promise<Buffer> {
  const { headers } = request;
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0))
    return noBody;
  checkMediaType(request);
  if (Number(length) > limitBytes) throw tooLarge(limitBytes);
  if (headers.expect !== undefined) response.writeContinue();
  return await collect(request, limitBytes, timeoutMs);
}

function checkMediaType(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  if (type === undefined || !isJson(type) || headerCount(request, 'content-type') !== 1)
    throw problem('unsupported_media_type');
  if (request.headers['content-encoding'] !== undefined)
    throw problem('unsupported_media_type', { detail: 'The body must not have a Content-Encoding.' });
}

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

function isJson(type: string): boolean {
  return type === 'application/json' || jsonType.test(type);
}

function tooLarge(limitBytes: number) {
  return problem('payload_too_large', { detail: `The body may have at most ${limitBytes} bytes.` });
}

function collect(request: IncomingMessage, limitBytes: number, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => stop(problem('request_timeout')), timeoutMs);
    const stop = (error: Error) => {
      clearTimeout(timer);
      request.pause().off('data', onData).off('end', onEnd).off('close', onClose);
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) return stop(tooLarge(limitBytes));
      chunks.push(chunk);
    };
    const onEnd = () => {
      clearTimeout(timer);
      request.off('close', onClose);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    };
    const onClose = () => stop(new Error('The client went away while it sent the body'));
    // A connection that breaks reports an error too; the close after it says all.
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('close', onClose)
      .on('error', () => undefined);
  });
}

/** The JSON object that the bytes spell; an empty body is an empty object. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw problem('malformed_json', { detail: 'The body is not valid UTF-8.' });
  checkDepth(bytes);
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8', start));
  } catch {
    // What the parser says quotes the body, which may be confidential.
    throw problem('malformed_json', { detail: 'The body is not valid JSON.' });
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw problem('malformed_json', { detail: 'The body must be one JSON object.' });
  return value;
}

/**
 * Deep nesting parses, but then overflows the stack of whatever walks it. Strings are skipped by a native search:
 * most of a large body is one string of base64.
 */
function checkDepth(bytes: Buffer): void {
  let depth = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte === 0x22) {
      index = endOfString(bytes, index);
      if (index < 0) return;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > maxDepth)
        throw problem('malformed_json', { detail: `The body is nested deeper than ${maxDepth} levels.` });
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
}

/** Where the string that opens at `start` closes; -1 when it does not. */
function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(0x22, start + 1);
  while (end > 0) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = bytes.indexOf(0x22, end + 1);
  }
  return -1;
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
