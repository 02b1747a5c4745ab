import { PduFault } from './pdu.ts';

const headerBytes = 16;
/** A message_payload may have 64 KiB. */
const maxPduBytes = 66_000;

/**
 * Cuts a stream into PDUs, however it arrives. Throws a PduFault for an impossible length: nothing after it can be
 * read, so the connection is of no more use. Holds at most one PDU and one piece.
 */
export function frameReader(): (piece: Buffer) => Buffer[] {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = 4;

  return (piece) => {
    pieces.push(piece);
    held += piece.length;
    if (held < needed) return [];
    let rest = pieces.length === 1 ? piece : Buffer.concat(pieces, held);
    const frames: Buffer[] = [];
    needed = 4;
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0);
      if (length < headerBytes || length > maxPduBytes) throw new PduFault(`No PDU has ${length} bytes`);
      if (rest.length < length) {
        needed = length;
        break;
      }
      frames.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    pieces = rest.length > 0 ? [rest] : [];
    held = rest.length;
    return frames;
  };
}
