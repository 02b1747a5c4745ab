import { Readable } from 'node:stream';
import type { HandOver, StreamedMessage } from './hand-over.ts';

// Larger messages go out in pieces, so that a connection lost on the way can be told from one lost at the end.
const pieceBytes = 64 * 1024;

type BodyListener = {
  /** Called before a piece is given to the library; tells whether it is the last one. */
  onPiece: (isLast: boolean) => void;
  /** Called when the message cannot be read to its end; the stream then never ends. */
  onFault: (error: Error) => void;
};

/**
 * Returns the message as a stream. The library starts to read only when the relay has answered DATA with 354. Bytes
 * that it has not read cannot have been sent.
 */
export function bodyOf(message: HandOver['message'], { onPiece, onFault }: BodyListener): Readable {
  const { sizeBytes, open } = Buffer.isBuffer(message) ? streamed(message) : message;
  let source: AsyncIterator<Buffer> | undefined;
  let rest: Buffer = Buffer.alloc(0);
  let sent = 0;
  const body = new Readable({
    highWaterMark: pieceBytes,
    read() {
      give().catch(onFault);
    },
  });
  async function give(): Promise<void> {
    source ??= open()[Symbol.asyncIterator]();
    while (rest.length === 0) {
      const { done, value } = await source.next();
      if (done) throw new Error(`The message ends after ${sent} bytes instead of ${sizeBytes}`);
      rest = value;
    }
    const piece = rest.subarray(0, pieceBytes);
    rest = rest.subarray(piece.length);
    sent += piece.length;
    if (sent > sizeBytes) throw new Error(`The message has more than ${sizeBytes} bytes`);
    onPiece(sent === sizeBytes);
    body.push(piece);
    if (sent === sizeBytes) body.push(null);
  }
  return body;
}

function streamed(message: Buffer): StreamedMessage {
  return {
    sizeBytes: message.length,
    open: async function* () {
      yield message;
    },
  };
}

/** Tells whether a part of the message may still be on its way after the relay has answered. */
export function hasPieces(message: HandOver['message']): boolean {
  return !Buffer.isBuffer(message) || message.length > pieceBytes;
}
