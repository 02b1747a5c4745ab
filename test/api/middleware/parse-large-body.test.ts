import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LargeBody, parseLargeBody } from '../../../api/middleware/large-body.ts';
import { LargeText } from '../../../shared/schemas/large-text.ts';

const places = {
  largeTexts: [['attachments', '*', 'content']],
  freeForm: [['template', 'data']],
  bodyLimitValues: 50_000,
};

/** Returns a body that is read in pieces of this size; each piece is overwritten before the next. */
function bodyOf(json: string, pieceBytes: number): LargeBody {
  const bytes = Buffer.from(json);
  const piece = Buffer.alloc(pieceBytes);
  async function* read(start = 0, end = bytes.length) {
    for (let at = start; at < end; at += pieceBytes) {
      const length = bytes.copy(piece, 0, at, Math.min(end, at + pieceBytes));
      yield piece.subarray(0, length);
      piece.fill(0x23);
    }
  }
  return { byteLength: bytes.length, read, discard: () => {} };
}

async function parsed(json: string, pieceBytes: number): Promise<unknown> {
  const value = await parseLargeBody(bodyOf(json, pieceBytes), places);
  return readLarge(value);
}
async function readLarge(value: unknown): Promise<unknown> {
  if (value instanceof LargeText) {
    const parts: Buffer[] = [];
    for await (const part of value.read()) parts.push(Buffer.from(part));
    return Buffer.concat(parts).toString();
  }
  if (value === null || typeof value !== 'object') return value;
  for (const [name, member] of Object.entries(value))
    Object.defineProperty(value, name, { value: await readLarge(member) });
  return value;
}

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ maxLength: 60 }));
const jsonObject = fc
  .dictionary(text, fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 3 }))
  .chain((others) =>
    fc
      .record({ content: fc.base64String({ maxLength: 60 }), text, blanks: fc.nat(300) })
      .map(({ content, text: other, blanks }) => ({
        value: { ...others, attachments: [{ content, filename: other }, { content: '' }], text: other },
        blanks,
      })),
  );
/** Escapes every character outside of ASCII, as some clients do. */
const escaped = (json: string) =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

test.each([
  ['{"text":"é",\n"attachments":[{"content":"aGVsbG8K","filename":"é"},,]}', 2, 54],
  ['{"attachments":[{"content":"aGVs\nbG8K"}],\n  "text": tru}', 3, 11],
  ['{"text":"x",}', 1, 13],
  ['{"attachments":[{"content":"aGVsbG8K"}]', 1, 40],
])('where a large body stops to be JSON is told by line and column (%#)', async (json, line, column) => {
  for (const pieceBytes of [8, 64, 1_000])
    await expect(parsed(json, pieceBytes)).rejects.toMatchObject({
      code: 'malformed_json',
      options: { detail: `The body is not valid JSON at line ${line}, column ${column}.` },
    });
});

test('whatever the pieces, a large body is parsed to what a small one is', async () => {
  await fc.assert(
    fc.asyncProperty(
      jsonObject,
      fc.integer({ min: 8, max: 200 }),
      fc.boolean(),
      async ({ value, blanks }, pieceBytes, isEscaped) => {
        const spelt = JSON.stringify(value, null, blanks % 2 ? 2 : 0);
        const json = `${' '.repeat(blanks)}${isEscaped ? escaped(spelt) : spelt}\n${'\t'.repeat(blanks)}`;
        expect(await parsed(json, pieceBytes)).toEqual(JSON.parse(json));
      },
    ),
    { numRuns: 300 },
  );
});

test.each([
  '{"a":"\\x41"}',
  '{"a":"a\tb"}',
  '{"a":"\\ud8"}',
  '{"a":"\\',
  '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  `{"a":1${' '.repeat(200)}2}`,
  `{"a":"${'x'.repeat(50)}\\q${'x'.repeat(50)}"}`,
  `{"a":"${'x'.repeat(50)}\n${'x'.repeat(50)}"}`,
  `{"a":[1,2}${' '.repeat(99)}`,
])('what is no JSON is none in pieces either: %#', async (json) => {
  for (const pieceBytes of [8, 9, 16, 31, 64, 500])
    await expect(parsed(json, pieceBytes)).rejects.toThrow('malformed_json');
});

test('of a text that is too long for any field no more is kept than shows it', async () => {
  const json = JSON.stringify({ a: 'é'.repeat(9_000_000), b: 'b' });
  const { a, b } = (await parsed(json, 65_536)) as { a: string; b: string };
  expect(a.length).toBeGreaterThan(2_000_000);
  expect(a.length).toBeLessThan(2_200_000);
  expect(b).toBe('b');
});
