import * as fc from 'fast-check';
import { parseDictionary, serializeDictionary } from 'structured-headers';
import { expect, test } from 'vitest';
import { parseSignature, parseSignatureInput } from '../../../shared/formats/signatures/http-signature.ts';

const parameterName = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,8}$/);
const ascii = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});
const parameters = fc
  .array(fc.tuple(parameterName, fc.oneof(ascii, fc.integer(), fc.boolean())), { maxLength: 5 })
  .map((entries) => new Map<string, string | number | boolean>(entries));
const inner = fc.tuple(
  fc.array(
    ascii.map((name): [string, Map<string, string>] => [name, new Map()]),
    { maxLength: 5 },
  ),
  parameters,
);
const dictionary = fc
  .array(fc.tuple(parameterName, inner), { maxLength: 5 })
  .map((members) => new Map(members));

test('what a serialiser of structured fields writes is read back, label by label', () => {
  fc.assert(
    fc.property(dictionary, (written) => {
      const read = parseSignatureInput(serializeDictionary(written), 5);
      expect(read).toHaveLength(written.size);
      for (const { label, text, params, names, parameters: own } of read!) {
        const [items, given] = written.get(label)!;
        expect(names).toEqual(items.map(([name]) => name));
        expect([...own]).toEqual([...given]);
        expect(text).toBe(params);
      }
    }),
  );
});

const pieces = [
  '"',
  '\\',
  ',',
  '(',
  ')',
  ':',
  ';',
  '=',
  ' ',
  '\t',
  '%"',
  '?1',
  '@1',
  '"a"',
  'sig',
  'x',
  '1',
  '-',
  '.',
  'AA==',
  'é',
];

test('what a parser of structured fields refuses is refused; what is read, it reads the same way', () => {
  let readCount = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 20 }), (chosen) => {
      // Node has already removed the spaces at both ends.
      const field = chosen.join('').trim();
      const [inputs, values] = [parseSignatureInput(field, 20), parseSignature(field, 20)];
      expect(inputs === null).toBe(values === null);
      if (!values) return;
      readCount += 1;
      const expected = parseDictionary(field);
      expect(new Set(values.map(({ label }) => label))).toEqual(new Set(expected.keys()));
      // The parser keeps the last of two members with one label, so only fields without duplicates can be compared.
      if (values.length > expected.size) return;
      for (const { label, names, parameters: own } of inputs!) {
        const [items, given] = expected.get(label)!;
        expect([...own]).toEqual([...given]);
        expect(names === null || Array.isArray(items)).toBe(true);
      }
    }),
    { numRuns: 2_000, examples: [[['sig', '=', '(', '"a"', ')']], [['x', ',', 'x']]] },
  );
  expect(readCount).toBeGreaterThan(2);
});

test('two members with one label are both there', () => {
  expect(parseSignatureInput('a=("x"), b=(), a=("y")', 4)!.map(({ label, names }) => [label, names])).toEqual(
    [
      ['a', ['x']],
      ['b', []],
      ['a', ['y']],
    ],
  );
  expect(parseSignature('a=:AA==:,a=:AQ==:', 4)!.map(({ value }) => value)).toEqual([
    Uint8Array.of(0),
    Uint8Array.of(1),
  ]);
});

test.each([
  ['("a"  "b")', '("a" "b")'],
  ['("a");  b', '("a");b'],
  ['("a");b;b=1', '("a");b=1'],
  ['("a");b=?1', '("a");b'],
  ['("a");b=1.0', '("a");b=1'],
  ['("a");b=01', '("a");b=1'],
])('%s means the same as %s, and is known not to be it', (text, params) => {
  expect(parseSignatureInput(`sig=${text}`, 1)).toMatchObject([{ text, params }]);
  expect(parseSignatureInput(`sig=${params}`, 1)).toMatchObject([{ text: params, params }]);
});

// Quadratic work over these fields would never end.
test.each([
  ['escapes in an open quote', `"${'\\"'.repeat(300_000)}`],
  ['quotes', '"'.repeat(600_001)],
  ['open quotes', 'x="'.repeat(200_001)],
  ['members, and a comma too many', 'x,'.repeat(30_000)],
  ['backslashes', `x="${'\\'.repeat(600_001)}`],
  ['brackets', '('.repeat(600_000)],
  ['spaces', ' '.repeat(600_000)],
])('a field of endless %s is refused', (_what, field) => {
  expect(parseSignatureInput(field, 1e9)).toBe(null);
  expect(parseSignature(field, 1e9)).toBe(null);
});

test('reading stops at the first label that is too many', () => {
  const field = 'a=(), b=1, c=:AA==:, d=(), what comes after it is not looked at';
  expect(parseSignatureInput(field, 3)).toHaveLength(4);
  expect(parseSignature(field, 3)).toHaveLength(4);
  expect(parseSignature(field, 4)).toBe(null);
});
