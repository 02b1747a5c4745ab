import type { IncomingMessage } from 'node:http';
import { type ErrorCode, Problem, problem } from '../../shared/common/errors.ts';
import { logger } from '../../shared/common/logger.ts';
import {
  fileBudget,
  type LargeBody,
  memoryBudget,
  type Rate,
  type Reservation,
  type Spool,
  startSpool,
  tooManyLarge,
  watchRate,
} from './large-body.ts';

/** A larger body is kept in a file. */
export const smallBodyBytes = 1024 * 1024;

export type RawBody = Buffer | LargeBody;

export type BodyOptions = {
  /** The body must be multipart/form-data; all other bodies are JSON. */
  isForm?: boolean;
  limitBytes: number;
  timeoutMs: number;
  /** The owner of the share of the budgets that the body takes. */
  owner: string;
  /** The error code of the answer if the budget is used up. */
  busyCode: ErrorCode;
  /**
   * The least rate of a large body. A slower body would not arrive in time, and would hold its part of the budget until
   * it is given up.
   */
  leastRate: Rate;
};

export function tooLarge(limitBytes: number) {
  return problem('payload_too_large', { detail: `The body may have at most ${limitBytes} bytes.` });
}

/**
 * Reserves a part of the budget for a large body; it grows as bytes come. Refuses a body that is too large for what is
 * free now.
 */
export function reservationFor(options: BodyOptions, bytes: number): Reservation {
  const reservation = fileBudget.hasFree(options.owner, bytes) && fileBudget.reserve(options.owner);
  if (!reservation) throw tooManyLarge(options.busyCode);
  return reservation;
}

/** Reads the body. `announced`: the reservation of a body that is large by its headers. */
export function collect(
  request: IncomingMessage,
  options: BodyOptions,
  announced: Reservation | null,
): Promise<RawBody> {
  const { limitBytes, timeoutMs, owner, leastRate } = options;
  const length = Number(request.headers['content-length']);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let inMemory: Reservation | null = null;
    let inFile: Reservation | null = null;
    let spool: Spool | null = null;
    let stopWatch = () => {};
    const timer = setTimeout(() => stop(problem('request_timeout')), timeoutMs);
    const end = () => {
      clearTimeout(timer);
      stopWatch();
      inMemory?.release();
      request.off('close', onClose);
    };
    const stop = (error: Error) => {
      end();
      request.pause().off('data', onData).off('end', onEnd);
      if (spool) spool.discard();
      else inFile?.release();
      reject(error);
    };
    const onDiskFault = (error: Error) => {
      logger.error({ err: error }, 'a request body could not be written to the temporary folder');
      stop(tooManyLarge(options.busyCode));
    };
    const onSlow = () => {
      const seconds = leastRate.withinMs / 1000;
      const detail = `A large body must arrive at ${leastRate.bytes} bytes or more in each ${seconds} seconds.`;
      stop(problem('request_timeout', { detail }));
    };
    const enter = (reservation: Reservation) => {
      inFile = reservation;
      stopWatch = watchRate(request, leastRate, () => size, onSlow);
      return reservation;
    };
    const toFile = (reservation: Reservation): Spool => {
      spool = startSpool(reservation, onDiskFault);
      for (const chunk of chunks.splice(0)) spool.write(chunk);
      inMemory?.release();
      return spool;
    };
    const hold = (chunk: Buffer): void => {
      chunks.push(chunk);
      // Most bodies come in one piece, and take no part of the budget.
      if (size === length) return;
      inMemory ??= memoryBudget.reserve(owner);
      if (!inMemory?.grow(size)) throw tooManyLarge(options.busyCode);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > limitBytes) throw tooLarge(limitBytes);
        if (size <= smallBodyBytes) return hold(chunk);
        const reservation = inFile ?? enter(reservationFor(options, size));
        if (!reservation.grow(size)) throw tooManyLarge(options.busyCode);
        if ((spool ?? toFile(reservation)).write(chunk)) return;
      } catch (error) {
        return error instanceof Problem ? stop(error) : onDiskFault(error as Error);
      }
      request.pause();
      // A spool that `stop` has discarded never drains.
      spool!.onDrain(() => request.resume());
    };
    const onEnd = () => {
      end();
      inFile?.arrived();
      if (spool) return void spool.finish().then(resolve, onDiskFault);
      inFile?.release();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    };
    const onClose = () => stop(new Error('The client went away while it sent the body'));
    if (announced) enter(announced);
    // A broken connection also emits an error; the close event that follows says enough.
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('close', onClose)
      .on('error', () => undefined);
  });
}
