import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fold,
  foldCase,
  reversed,
  startOf,
  wordsOf,
  wordsOfNames,
} from '../../shared/formats/folded-text.ts';

test.each([
  ['Ada LOVELACE', 'ada lovelace'],
  ['Seán Ó Súilleabháin', 'sean o suilleabhain'],
  ['MÜLLER', 'muller'],
  ['Straße', 'strasse'],
  ['STRASSE', 'strasse'],
  ['Łódź', 'lodz'],
  ['Ørsted Æsir', 'orsted aesir'],
  ['İstanbul', 'istanbul'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['οδός', 'οδοσ'],
  ['ＡＢＣ １２', 'abc 12'],
  ['ﬃ', 'ffi'],
])('%j and what is written otherwise for it are folded into one', (text, folded) => {
  expect(fold(text)).toBe(folded);
});

test.each([
  ['', []],
  ['  ', []],
  ['Ada  Lovelace', ['ada', 'lovelace']],
  ["O'Brien", ['obrien']],
  ['O’Brien', ['obrien']],
  ['O´Brien', ['obrien']],
  ['ŉ', ['n']],
  ['Jean-Luc', ['jean', 'luc']],
  ['AT&T (UK) Ltd.', ['at', 't', 'uk', 'ltd']],
  ['C++ / C#', ['c', 'c']],
  ['株式会社　東京', ['株式会社', '東京']],
  ['🎉 Party', ['🎉', 'party']],
  ['a_b%c\\d', ['a', 'b', 'c', 'd']],
  ['Müller—Söhne', ['muller', 'sohne']],
])('the words of %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

// Shows A17
test('names that differ by case alone are one, others are not', () => {
  for (const [one, other] of [
    ['VIP', 'vip'],
    ['Éclair', 'éCLAIR'],
    ['Straße', 'STRAẞE'],
    ['STRASSE', 'straße'],
    ['E\u0301clair', 'éclair'],
  ] as const)
    expect(foldCase(one)).toBe(foldCase(other));
  for (const [one, other] of [
    ['resume', 'résumé'],
    ['Lodz', 'Łódź'],
    ['ａ', 'a'],
  ] as const)
    expect(foldCase(one)).not.toBe(foldCase(other));
});

const anyText = fc.string({ unit: 'grapheme', maxLength: 40 });

/** Returns the names of the functions that change a folded text when they are applied a second time. */
function changing(text: string): string[] {
  const words = (one: string) => wordsOf(one).join(' ');
  // Most letters stay as they are the first time, and then the second time can change nothing.
  const changes = (of: (one: string) => string, once = of(text)) => once !== text && of(once) !== once;
  return Object.entries({ fold, foldCase, words }).flatMap(([name, of]) => (changes(of) ? [name] : []));
}

test('what is folded stays as it is, and so do its words', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(changing(text)).toEqual([]);
    }),
  );
});

test('so does every letter there is', () => {
  const letters = Array.from({ length: 0x30000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code));
  expect(
    letters.filter((letter) => changing(`a${letter}b`).length > 0 || changing(letter).length > 0),
  ).toEqual([]);
});

test('of names: the first word of each, and the others once each where they lead no name', () => {
  expect(wordsOfNames(['Anna Maria', null, 'Maria & Söhne Anna GmbH Söhne', ''])).toEqual({
    leading: ['anna', null, 'maria', null],
    further: ['sohne', 'gmbh'],
  });
  const many = Array.from({ length: 40 }, (_, index) => `w${index}`);
  expect(wordsOfNames([many.join(' '), 'w2', 'w4']).further).toEqual(['w1', 'w3', ...many.slice(5, 5 + 18)]);
});

test('a text from its end', () => {
  expect(reversed('447700900123')).toBe('321009007744');
});

test('the start of a text fits, is whole characters, and is as long as can be', () => {
  fc.assert(
    fc.property(anyText, fc.nat(60), (text, bytes) => {
      const start = startOf(text, bytes);
      expect(text.startsWith(start)).toBe(true);
      expect(Buffer.byteLength(start)).toBeLessThanOrEqual(bytes);
      const [next] = text.slice(start.length);
      if (next !== undefined) expect(Buffer.byteLength(start + next)).toBeGreaterThan(bytes);
    }),
  );
});

test('what begins with a text has a start that begins with its start', () => {
  fc.assert(
    fc.property(anyText, anyText, fc.nat(60), (text, more, bytes) => {
      expect(startOf(text + more, bytes).startsWith(startOf(text, bytes))).toBe(true);
    }),
  );
});
