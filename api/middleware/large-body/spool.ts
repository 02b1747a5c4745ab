import { randomUUID } from 'node:crypto';
import { createWriteStream, openSync, read, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Reservation } from './budget.ts';

/** A body that lies in a file. */
export type LargeBody = {
  byteLength: number;
  /**
   * Yields the bytes from `start` to before `end`, by default all of them, piece by piece. Each piece overwrites the
   * one before: new buffers would pile up faster than they are collected.
   */
  read: (start?: number, end?: number) => AsyncGenerator<Buffer>;
  discard: () => void;
};

export type Spool = {
  /** Returns false if the buffer is full; `onDrain` then tells when there is room for more. */
  write: (chunk: Buffer) => boolean;
  onDrain: (action: () => void) => void;
  /** Resolves with the body, once all of it is in the file. */
  finish: () => Promise<LargeBody>;
  discard: () => void;
};

// Strings made of larger pieces would be left to the slow part of the garbage collector.
const pieceBytes = 64 * 1024;
const writtenAheadBytes = 256 * 1024;
const readInto = promisify(read);

/**
 * Opens a file without a name, which the system deletes when it is closed, also by the death of the process. `onError`
 * is called when the disk is full, for example. Opening it synchronously is quicker than a turn of the thread pool.
 */
export function startSpool(reservation: Reservation, onError: (error: Error) => void): Spool {
  const path = join(tmpdir(), `messaging-body-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  const stream = createWriteStream(path, {
    fd: file,
    autoClose: false,
    start: 0,
    highWaterMark: writtenAheadBytes,
  });
  stream.on('error', onError);
  let byteLength = 0;
  let isOpen = true;
  function discard(): void {
    if (!isOpen) return;
    isOpen = false;
    reservation.release();
    // This closes the file, once a running write has ended.
    stream.destroy();
  }
  return {
    write: (chunk) => {
      byteLength += chunk.length;
      return stream.write(chunk);
    },
    onDrain: (action) => void stream.once('drain', action),
    finish: () =>
      new Promise((resolve, reject) => {
        const read: LargeBody['read'] = (start = 0, end = byteLength) => pieces(file, start, end);
        stream.end(() => (stream.errored ? reject(stream.errored) : resolve({ byteLength, read, discard })));
      }),
    discard,
  };
}

async function* pieces(file: number, start: number, end: number): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, end - start));
  for (let at = start; at < end; ) {
    const { bytesRead } = await readInto(file, piece, 0, Math.min(piece.length, end - at), at);
    if (bytesRead === 0) throw new Error('The file of a body is shorter than the body');
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}
