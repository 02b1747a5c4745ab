import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { notePassing } from '../../shared/domain/passing-bytes.ts';
import { type ErrorCode, Problem, problem } from '../../shared/errors.ts';
import { logger } from '../../shared/logger.ts';
import { type LargeBody, type Reservation, reserve, type Spool, startSpool } from './large-body.ts';
import { headerCount } from './request-form.ts';

const noBody = Buffer.alloc(0);
/** A rest this small is read and forgotten, so that the connection can be used again. */
const smallRestBytes = 64 * 1024;
const lingerMs = 5_000;

/** From here on a body is kept in a file. */
export const smallBodyBytes = 1024 * 1024;
const retryAfterSeconds = 5;

export type RawBody = Buffer | LargeBody;

type BodyOptions = {
  limitBytes: number;
  timeoutMs: number;
  /** Whose share of the room for large bodies it takes. */
  owner: string;
  /** What is said when there is no room. */
  busyCode: ErrorCode;
};

/**
 * The bytes of the body, exactly as sent; none when there is no body. Refuses by the headers what it can, so that
 * a body of the wrong kind or size is never read. A large one has to be discarded by whoever gets it.
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
  checkMediaType(request);
  if (Number(length) > options.limitBytes) throw tooLarge(options.limitBytes);
  const reservation = Number(length) > smallBodyBytes ? reserveFor(options, Number(length)) : null;
  if (headers.expect !== undefined) response.writeContinue();
  return await collect(request, options, reservation);
}

function reserveFor({ owner, busyCode }: BodyOptions, bytes: number): Reservation {
  const reservation = reserve(owner, bytes);
  if (!reservation) throw noRoom(busyCode);
  return reservation;
}

function noRoom(busyCode: ErrorCode) {
  return problem(busyCode, {
    detail: 'Too many large requests are in hand',
    retryAfterSeconds,
  });
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

function collect(
  request: IncomingMessage,
  options: BodyOptions,
  reserved: Reservation | null,
): Promise<RawBody> {
  const { limitBytes, timeoutMs, busyCode } = options;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let reservation = reserved;
    let spool: Spool | null = null;
    const timer = setTimeout(() => stop(problem('request_timeout')), timeoutMs);
    const stop = (error: Error) => {
      clearTimeout(timer);
      request.pause().off('data', onData).off('end', onEnd).off('close', onClose);
      if (spool) spool.discard();
      else reservation?.release();
      reject(error);
    };
    const onDiskFault = (error: Error) => {
      logger.error({ err: error }, 'a request body could not be written to the temporary folder');
      stop(noRoom(busyCode));
    };
    const toFile = (room: Reservation): Spool => {
      spool = startSpool(room, onDiskFault);
      for (const chunk of chunks.splice(0)) spool.write(chunk);
      return spool;
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) return stop(tooLarge(limitBytes));
      if (size <= smallBodyBytes) return void chunks.push(chunk);
      try {
        reservation ??= reserveFor(options, size);
        if (!reserved && !reservation.grow(size)) return stop(noRoom(busyCode));
        notePassing(chunk.length);
        if ((spool ?? toFile(reservation)).write(chunk)) return;
      } catch (error) {
        return error instanceof Problem ? stop(error) : onDiskFault(error as Error);
      }
      request.pause();
      spool!.onDrain(() => {
        if (request.listeners('data').includes(onData)) request.resume();
      });
    };
    const onEnd = () => {
      clearTimeout(timer);
      request.off('close', onClose);
      if (spool) return void spool.finish().then(resolve, onDiskFault);
      reservation?.release();
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
