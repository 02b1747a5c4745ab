import { Readable } from 'node:stream';
import type { HandOver, StreamedMessage } from './hand-over.ts';

// Larger messages go out piece by piece, so that a connection lost on the way is told from one lost at the end.
const pieceBytes = 64 * 1024;

type BodyListener = {
  /** Before a piece is given away: whether it is the last. */
  onPiece: (isLast: boolean) => void;
  /** The message cannot be read to its end, which does not come then. */
  onFault: (error: Error) => void;
};

/**
 * The library first reads when the relay has answered DATA with 354. Bytes that it has not read cannot have been sent.
 */
export function bodyOf(message: HandOver['message'], listener: BodyListener): Readable {
  return Buffer.isBuffer(message) ? bodyOfBytes(message, listener) : bodyOfStream(message, listener);
}

/** Whether some of it may be on its way when the relay has answered already. */
export function hasPieces(message: HandOver['message']): boolean {
  return !Buffer.isBuffer(message) || message.length > pieceBytes;
}

function bodyOfBytes(message: Buffer, { onPiece }: BodyListener): Readable {
  let offset = 0;
  const body = new Readable({
    highWaterMark: pieceBytes,
    read() {
      const start = offset;
      offset = Math.min(start + pieceBytes, message.length);
      onPiece(offset === message.length);
      body.push(message.subarray(start, offset));
      if (offset === message.length) body.push(null);
    },
  });
  return body;
}

function bodyOfStream({ sizeBytes, open }: StreamedMessage, { onPiece, onFault }: BodyListener): Readable {
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
