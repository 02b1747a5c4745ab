import type { Random } from '../faults/storm/types.ts';

/** Makes one text of a language. The same random numbers make the same text. */
export type Grammar = (random: Random) => string;
type Term = string | Grammar;

const expand = (term: Term, random: Random): string => (typeof term === 'string' ? term : term(random));

export const integer = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

/** Picks one of the alternatives. */
export const oneOf =
  (...terms: readonly Term[]): Grammar =>
  (random) =>
    expand(terms[Math.floor(random() * terms.length)]!, random);

/** Joins the terms one after the other. */
export const sequence =
  (...terms: readonly Term[]): Grammar =>
  (random) =>
    terms.map((term) => expand(term, random)).join('');

/** Repeats a term from `least` to `most` times, with the separator in between. */
export const many =
  (term: Term, least: number, most: number, separator = ''): Grammar =>
  (random) =>
    Array.from({ length: integer(random, least, most) }, () => expand(term, random)).join(separator);

export const maybe =
  (term: Term, share = 0.5): Grammar =>
  (random) =>
    random() < share ? expand(term, random) : '';

/** Makes a rule that contains itself: `within` is the rule one level deeper, or `leaf` at the deepest level. */
export function recursive(leaf: Grammar, rule: (within: Grammar) => Grammar, levels: number): Grammar {
  return levels === 0 ? leaf : rule(oneOf(leaf, recursive(leaf, rule, levels - 1)));
}

/** Numbers at the limits of number types, and numbers in odd forms. */
export const oddNumber = oneOf(
  '0',
  '-0',
  '-1',
  '1e999',
  '-1e-999',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '18446744073709551616',
  '999999999999999999999999999999',
  '0x10',
  '1_000',
  '.5',
  '5.',
  'NaN',
  'Infinity',
  '٣',
);

/** Texts with characters that are invisible, combine with others, or have several forms. */
export const oddText = oneOf(
  '',
  ' ',
  '\0',
  '\u0001\u007f',
  '\ufeff',
  '\u202eabc\u202c',
  '\u200b\u200d',
  'İı',
  'ßẞſ',
  'ﬃ',
  '\u0130'.repeat(20),
  'e\u0301',
  'a\u0300\u0301\u0302\u0303\u0304',
  '👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '\u2028\u2029\u0085',
  '＜＞＂＇',
  '１２３',
  '\ud800',
  '\udc00x',
  'constructor',
  '__proto__',
  'toString',
  '../../etc/passwd',
  '%00%0d%0a',
  '${7*7}{{7*7}}<%= 7 %>',
  "' OR 1=1 -- ",
  '\\',
  '"',
);

export const word = oneOf(
  'a',
  'Ada',
  'hello world',
  'x'.repeat(80),
  'naïve café',
  '日本語',
  (random: Random) => Math.floor(random() * 2 ** 32).toString(36),
  oddText,
  oddNumber,
);
