import type { IncomingMessage } from 'node:http';
import { parseForm } from '../../../api/middleware/form-body.ts';
import { catalogue, Problem } from '../../../shared/common/errors.ts';
import { CsvFault, type CsvRow, readCsv } from '../../../shared/formats/csv-rows.ts';
import { frameReader } from '../../../shared/transports/sms/smpp/frames.ts';
import {
  commands,
  decodePdu,
  decodeShortMessage,
  PduFault,
} from '../../../shared/transports/sms/smpp/pdu.ts';
import { isReceipt, readReceipt } from '../../../shared/transports/sms/smpp/receipts.ts';
import { form, formBoundary, pdus, recipients } from '../grammars/files.ts';
import { claim, claimEqual, kib, longestStallMs, type Target } from './target.ts';

async function* piecesOf(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Reads the rows, and the fault of the file after them. */
async function readRows(bytes: Buffer, pieceLength: number): Promise<{ rows: CsvRow[]; fault?: string }> {
  const rows: CsvRow[] = [];
  try {
    for await (const row of readCsv(piecesOf(bytes, pieceLength))) rows.push(row);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    claim(error.line >= 1, 'a fault in no line');
    return { rows, fault: error.message };
  }
  return { rows };
}

async function readRecipients(bytes: Buffer): Promise<number> {
  const whole = await readRows(bytes, bytes.length + 1);
  const inPieces = await readRows(bytes, 1 + (bytes.length % 61));
  const count = whole.rows.length + inPieces.rows.length;
  if (whole.fault !== undefined) {
    // With pieces of another size, the reader may meet another one of several faults first.
    claim(inPieces.fault !== undefined, 'in pieces it is accepted');
    return count;
  }
  claimEqual(inPieces, whole, 'in pieces it is something else');
  claim(
    whole.rows.every(({ line }, index) => line > (whole.rows[index - 1]?.line ?? 0)),
    'a row that ends before the one before it',
  );
  return count;
}

/** A row of two bytes takes some microseconds, more on a slow machine. */
const msOfRow = 0.03;

const isRefusal = (error: unknown): boolean => error instanceof Problem && catalogue[error.code].status < 500;

async function readForm(bytes: Buffer): Promise<void> {
  const headers = { 'content-type': `multipart/form-data; boundary=${formBoundary}` };
  try {
    const { upload } = await parseForm({ headers } as IncomingMessage, bytes, []);
    let length = 0;
    for await (const piece of upload()) length += piece.length;
    claim(length <= bytes.length, 'the file is larger than its form');
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** Reads PDUs. Null where a length is wrong: the connection ends, and the PDUs before it in the same piece are lost. */
function readPdus(bytes: Buffer, pieceLength: number): string[] | null {
  const read = frameReader();
  const found: string[] = [];
  try {
    for (let at = 0; at < bytes.length; at += pieceLength)
      for (const frame of read(bytes.subarray(at, at + pieceLength))) {
        const { id, body } = decodePdu(frame);
        found.push(frame.toString('hex'));
        if (id === commands.deliver_sm) readDelivery(body);
      }
  } catch (error) {
    if (!(error instanceof PduFault)) throw error;
    return null;
  }
  return found;
}

function readDelivery(body: Buffer): void {
  const message = decodeShortMessage(body);
  if (isReceipt(message)) for (const form of ['text', 'hex', 'decimal'] as const) readReceipt(message, form);
}

/** Files that customers send, and lines of carriers. */
export const fileTargets: Target[] = [
  {
    name: 'recipients',
    grammar: recipients,
    mostBytes: 256 * kib,
    mostMs: (rows) => longestStallMs + msOfRow * rows,
    read: readRecipients,
  },
  { name: 'form', grammar: form, mostBytes: 256 * kib, read: readForm },
  {
    name: 'smpp',
    grammar: pdus,
    mostBytes: 128 * kib,
    read: (bytes) => {
      claimEqual(
        readPdus(bytes, 1 + (bytes.length % 37)),
        readPdus(bytes, bytes.length + 1),
        'in pieces it is something else',
      );
    },
  },
];
