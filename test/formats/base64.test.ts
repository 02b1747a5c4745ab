import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeBase64,
  decodeBase64Pieces,
  encodedSize,
  encodeLines,
  NotBase64,
} from '../../shared/formats/base64.ts';

/** Decodes the text in the way that is used for large bodies, in pieces of `pieceLength` bytes. */
async function inPieces(text: string, pieceLength: number): Promise<Buffer | null> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceLength) yield bytes.subarray(at, at + pieceLength);
  }
  const decoded: Buffer[] = [];
  try {
    for await (const piece of decodeBase64Pieces(pieces())) decoded.push(Buffer.from(piece));
  } catch (error) {
    if (error instanceof NotBase64) return null;
    throw error;
  }
  return Buffer.concat(decoded);
}

test('any bytes come back, whole and in pieces of any length', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 70 }),
      async (bytes, length) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decodeBase64(text)).toEqual(Buffer.from(bytes));
        expect(await inPieces(text, length)).toEqual(Buffer.from(bytes));
      },
    ),
  );
});

const refused = [
  ['url-safe letters', '-_-_'],
  ['no padding', 'QQ'],
  ['half of the padding', 'QQ='],
  ['too much padding', 'QUI=='],
  ['padding alone', '===='],
  ['padding inside', 'QQ==QQ=='],
  ['a line end at the end', 'QUJD\n'],
  ['a line end inside', 'QUJD\r\nQUJD'],
  ['a space', 'QUJ D'],
  ['one letter too many', 'QUJDQ'],
  ['bits that are left over, of two letters', 'QR=='],
  ['bits that are left over, of three letters', 'QUJ='.replace('J', 'L')],
  ['another alphabet', 'ÄÖÜß'],
  ['a data URL', 'data:text/plain;base64,QUJD'],
  ['nothing that is base64', '!!!!'],
] as const;

test.each(refused)('%s is no base64', async (_name, text) => {
  expect(decodeBase64(text)).toBeNull();
  for (const length of [1, 2, 3, 4, 5, 100]) expect(await inPieces(text, length)).toBeNull();
});

// Shows A23
test('both ways agree about any text of such letters', async () => {
  const letters = fc.string({
    unit: fc.constantFrom('A', 'Q', 'g', 'w', '=', '/', '+', '-', ' '),
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(letters, fc.integer({ min: 1, max: 13 }), async (text, length) => {
      expect(await inPieces(text, length)).toEqual(decodeBase64(text));
    }),
    { numRuns: 1_000 },
  );
});

test('lines are those of RFC 2045, and as long as was said', () => {
  for (const length of [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 10_000]) {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => index * 7));
    const lines = bytes.toString('base64').match(/.{1,76}/g) ?? [];
    const encoded = encodeLines(bytes);
    expect(encoded.toString()).toBe(lines.map((line) => `${line}\r\n`).join(''));
    expect(encoded.length).toBe(encodedSize(length));
  }
});
