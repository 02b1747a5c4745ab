import { createRequire } from 'node:module';
import * as fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { expect, test } from 'vitest';
import { adapt, partsOf } from '../../../shared/formats/sms/gsm-7.ts';

// split-sms has no types.
const { split } = createRequire(import.meta.url)('split-sms') as {
  split: (text: string) => { characterSet: 'GSM' | 'Unicode'; parts: { content: string }[] };
};

const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const extension = '\f^{}\\[~]|€';

test.each([
  ['nothing', '', 'gsm7', 1],
  ['160 characters', 'a'.repeat(160), 'gsm7', 1],
  ['161 characters', 'a'.repeat(161), 'gsm7', 2],
  ['twice 153', 'a'.repeat(306), 'gsm7', 2],
  ['twice 153 and one more', 'a'.repeat(307), 'gsm7', 3],
  ['80 of the extension', '€'.repeat(80), 'gsm7', 1],
  ['81 of the extension', '€'.repeat(81), 'gsm7', 2],
  ['two septets where one is left', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'gsm7', 3],
  ['line ends of two characters', '\r\n'.repeat(80), 'gsm7', 1],
  ['70 other characters', 'я'.repeat(70), 'ucs2', 1],
  ['71 other characters', 'я'.repeat(71), 'ucs2', 2],
  ['twice 67', 'я'.repeat(134), 'ucs2', 2],
  ['twice 67 and one more', 'я'.repeat(135), 'ucs2', 3],
  ['one other character among 69', `${'a'.repeat(69)}я`, 'ucs2', 1],
  ['one other character among 70', `${'a'.repeat(70)}я`, 'ucs2', 2],
  ['35 surrogate pairs', '😀'.repeat(35), 'ucs2', 1],
  ['36 surrogate pairs', '😀'.repeat(36), 'ucs2', 2],
  ['a pair where one unit is left', `${'я'.repeat(66)}😀${'я'.repeat(66)}`, 'ucs2', 3],
  ['an extension character in UCS-2 is one unit', `${'€'.repeat(69)}я`, 'ucs2', 1],
])('%s: %j is %s in %i parts', (_name, text, encoding, count) => {
  const parted = partsOf(text);
  expect([parted.encoding, parted.parts.length]).toEqual([encoding, count]);
});

test.each([...'`çáşÀ\t\u00a0\u001b\0’–…αя'])('%j is not in the alphabet', (character) => {
  expect(partsOf(character).encoding).toBe('ucs2');
});

test('of every character of the basic plane it says as two other programs do what it takes', () => {
  const differing: string[] = [];
  for (let point = 0; point <= 0xffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const character = String.fromCodePoint(point);
    // 81 characters fit one part if each takes one septet, and need two parts if each takes two.
    const text = character.repeat(81);
    const { encoding, parts } = partsOf(text);
    const other = split(text);
    const same =
      (encoding === 'gsm7') === (other.characterSet === 'GSM') && parts.length === other.parts.length;
    // SegmentedMessage is slow, so it checks only the code points below U+2200.
    const third = point < 0x2200 ? new SegmentedMessage(character).encodingName : null;
    if (!same || (third !== null && (third === 'GSM-7') !== (encoding === 'gsm7')))
      differing.push(`U+${point.toString(16)}`);
  }
  expect(differing).toEqual([]);
  expect([...basic, ...extension].filter((character) => partsOf(character).encoding !== 'gsm7')).toEqual([]);
});

const inAlphabet = fc.constantFrom(...basic, ...extension, ...extension.repeat(3));
const anywhere = fc.oneof(
  { weight: 4, arbitrary: inAlphabet },
  fc.constantFrom('я', 'ç', '’', '😀', '👩‍👩‍👧', '🇬🇧', 'e\u0301', '\u200d', '中'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const long = { minLength: 0, maxLength: 700, size: 'max' as const };
const texts = fc.oneof(
  fc.array(inAlphabet, long).map((characters) => characters.join('')),
  fc.array(anywhere, long).map((characters) => characters.join('')),
);

test('any text is divided as another program divides it', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const other = split(text);
      expect(partsOf(text)).toEqual({
        encoding: other.characterSet === 'GSM' ? 'gsm7' : 'ucs2',
        parts: other.parts.map(({ content }) => content),
      });
    }),
    { numRuns: 1_000 },
  );
});

const graphemes = new Intl.Segmenter();

test('a third program counts the same parts, but where it keeps characters together that are drawn as one', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { encoding, parts } = partsOf(text);
      const other = new SegmentedMessage(text);
      expect(encoding === 'gsm7').toBe(other.encodingName === 'GSM-7');
      const isPlain = [...graphemes.segment(text)].length === [...text].length;
      if (isPlain) expect(parts).toHaveLength(other.segments.length || 1);
      else expect(parts.length).toBeLessThanOrEqual(other.segments.length);
    }),
    { numRuns: 200 },
  );
});

test('the parts are the text, each is as full as can be, and no pair is divided', () => {
  const size = (text: string, encoding: string) =>
    encoding === 'ucs2'
      ? text.length
      : [...text].reduce((sum, character) => sum + (extension.includes(character) ? 2 : 1), 0);
  fc.assert(
    fc.property(texts, (text) => {
      const { encoding, parts } = partsOf(text);
      expect(parts.join('')).toBe(text);
      if (parts.length === 1) return;
      const room = encoding === 'gsm7' ? 153 : 67;
      for (const [index, part] of parts.entries()) {
        expect(part.isWellFormed()).toBe(true);
        expect(size(part, encoding)).toBeLessThanOrEqual(room);
        const [next = ''] = parts[index + 1] ?? '';
        if (next) expect(size(part + next, encoding)).toBeGreaterThan(room);
      }
    }),
    { numRuns: 300 },
  );
});

test('deny refuses characters outside the alphabet and names each once', () => {
  expect(adapt('Grüße, 5 €', 'deny')).toEqual({ ok: true, text: 'Grüße, 5 €' });
  expect(adapt('ça va, ça va 😀\u200b', 'deny')).toEqual({
    ok: false,
    message: 'has characters that are not in the GSM alphabet: ç (U+00E7), 😀 (U+1F600), U+200B',
  });
  expect(adapt('абвгдежзийклм', 'deny')).toEqual({
    ok: false,
    message: expect.stringMatching(/: а \(U\+0430\), .*, й \(U\+0439\) and 3 more$/),
  });
});

test.each([
  ['It’s “quoted” – „so“ … and — more', 'It\'s "quoted" - "so" ... and - more'],
  ['Façade, garçon, São Paulo, Łódź', 'Facade, garcon, Sao Paulo, Lodz'],
  ['cafe\u0301 A\u030angstro\u0308m', 'café Ångström'],
  ['no\u00a0break\tand\u2003wide', 'no break and wide'],
  ['one\u2028two', 'one\ntwo'],
  ['œuf ﬁn ½ ™ ①', 'oeuf fin 1/2 TM 1'],
  ['ＡＢＣ　１２', 'ABC 12'],
  ['ΚΑΛΗΜΈΡΑ', 'KAΛHMEPA'],
  ['Yes 👍🏽 1️⃣ 👩‍👩‍👧!', 'Yes  1 !'],
  ['zero\u200bwidth\u00adhyphen', 'zerowidthhyphen'],
  ['Привет', ''],
])('strip makes of %j %j', (text, stripped) => {
  expect(adapt(text, 'strip')).toEqual({ ok: true, text: stripped });
});

test('what strip leaves is in the alphabet, and what is in there it leaves', () => {
  fc.assert(
    fc.property(texts, fc.string({ unit: 'grapheme' }), (text, other) => {
      const stripped = adapt(text + other, 'strip');
      if (!stripped.ok) throw new Error(stripped.message);
      expect(partsOf(stripped.text).encoding).toBe('gsm7');
      expect(adapt(stripped.text, 'strip')).toEqual(stripped);
      if (partsOf(text).encoding === 'gsm7') expect(adapt(text, 'strip')).toEqual({ ok: true, text });
    }),
    { numRuns: 500 },
  );
});

test('allow changes nothing', () => {
  expect(adapt('cafe\u0301 – 😀', 'allow')).toEqual({ ok: true, text: 'cafe\u0301 – 😀' });
});
