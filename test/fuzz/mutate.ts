import { pick } from '../faults/storm/random.ts';
import type { Random } from '../faults/storm/types.ts';
import { integer, oddNumber, oddText } from './grammar.ts';

/** The largest input of any parser: larger ones are refused before. */
const mostBytes = 256 * 1024;

const structure = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\r',
  '\r\n ',
  '\r\n\t',
  '\r\n.\r\n',
  '\0',
  '"',
  "'",
  '\\',
  '\\"',
  ',',
  ':',
  ';',
  '=',
  '?',
  '=?utf-8?B?',
  '?=',
  '--',
  '<',
  '>',
  '</',
  '/>',
  '<!--',
  '-->',
  '<![CDATA[',
  '&#',
  '&amp;',
  '{{',
  '}}',
  '{%',
  '%}',
  '{%-',
  '|',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '@',
  '%',
  '#',
] as const;
const openers = [
  '(',
  '[',
  '{',
  '<',
  '"',
  '{{',
  '{%if a%}',
  '{"a":',
  '[1,',
  '<a>',
  '<mj-section>',
  '\\',
] as const;
/** Bytes that are not UTF-8, or not its shortest form. */
const badBytes = ['ff', 'c0af', 'eda080', 'f4908080', 'e28', '80', 'fffe', 'c3'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

type Mutation = (random: Random, bytes: Buffer, other: () => Buffer) => Buffer;

const place = (random: Random, bytes: Buffer): number => integer(random, 0, bytes.length);

function replaced(bytes: Buffer, at: number, drop: number, insert: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);
}

function slice(random: Random, bytes: Buffer, longest: number): Buffer {
  const from = place(random, bytes);
  return bytes.subarray(from, from + integer(random, 1, longest));
}

const insert = (random: Random, bytes: Buffer, text: string): Buffer =>
  replaced(bytes, place(random, bytes), 0, Buffer.from(text));

const mutations: Record<string, Mutation> = {
  'flip a bit': (random, bytes) => {
    if (bytes.length === 0) return bytes;
    const copy = Buffer.from(bytes);
    const at = integer(random, 0, bytes.length - 1);
    copy[at] = copy[at]! ^ (1 << integer(random, 0, 7));
    return copy;
  },
  'insert structure': (random, bytes) => insert(random, bytes, pick(random, structure)),
  'insert bad bytes': (random, bytes) => replaced(bytes, place(random, bytes), 0, pick(random, badBytes)),
  'insert odd text': (random, bytes) => insert(random, bytes, oddText(random)),
  'change a number': (random, bytes) => {
    const numbers = [...bytes.toString('latin1').matchAll(/\d+/g)];
    if (numbers.length === 0) return insert(random, bytes, oddNumber(random));
    const { 0: digits, index } = pick(random, numbers);
    return replaced(bytes, index, digits.length, Buffer.from(oddNumber(random)));
  },
  'leave out': (random, bytes) =>
    replaced(bytes, place(random, bytes), integer(random, 1, 60), Buffer.alloc(0)),
  truncate: (random, bytes) => bytes.subarray(0, place(random, bytes)),
  'repeat some': (random, bytes) => {
    const part = slice(random, bytes, 40);
    const copies = Array.from({ length: integer(random, 2, 20) }, () => part);
    return replaced(bytes, place(random, bytes), 0, Buffer.concat(copies));
  },
  splice: (random, bytes, other) => {
    const from = other();
    return replaced(bytes, place(random, bytes), integer(random, 0, 40), slice(random, from, 400));
  },
  'exchange two': (random, bytes) => {
    const [first, second] = [place(random, bytes), place(random, bytes)].toSorted((a, b) => a - b);
    const middle = place(random, bytes.subarray(first, second)) + first!;
    return Buffer.concat([
      bytes.subarray(0, first),
      bytes.subarray(middle, second),
      bytes.subarray(first, middle),
      bytes.subarray(second),
    ]);
  },
  'change the line ends': (random, bytes) => {
    const end = pick(random, ['\n', '\r', '\r\r\n', '\n\r', '\u2028']);
    const lines = bytes.toString('latin1').split('\r\n');
    return Buffer.from(lines.join(Buffer.from(end).toString('latin1')), 'latin1');
  },
  nest: (random, bytes) => insert(random, bytes, pick(random, openers).repeat(integer(random, 10, 300))),
};

/**
 * Repeats a short piece up to the largest size. This shows work that takes quadratic time, and regular expressions with
 * much backtracking.
 */
function blown(random: Random, bytes: Buffer): Buffer {
  const piece =
    random() < 0.3 ? Buffer.from(pick(random, [...structure, ...openers])) : slice(random, bytes, 24);
  if (piece.length === 0) return bytes;
  const size = pick(random, [2_000, 20_000, mostBytes]);
  const at = place(random, bytes);
  const room = Math.max(0, size - bytes.length);
  return replaced(bytes, at, 0, Buffer.alloc(Math.floor(room / piece.length) * piece.length, piece));
}

const kinds = Object.values(mutations);
const shareAsMade = 0.25;
const shareBlown = 0.06;

/** Returns an input of a parser: as the grammar made it, or changed in a few places. */
export function mutated(random: Random, make: () => Buffer): Buffer {
  let bytes = make();
  if (random() < shareAsMade) return bytes;
  const times = random() < 0.7 ? integer(random, 1, 3) : integer(random, 4, 12);
  for (let count = 0; count < times; count += 1) bytes = pick(random, kinds)(random, bytes, make);
  if (random() < shareBlown) bytes = blown(random, bytes);
  return bytes.subarray(0, mostBytes);
}
