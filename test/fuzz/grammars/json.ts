import { type Grammar, many, oddNumber, oneOf, recursive, sequence, word } from '../grammar.ts';

const blank = oneOf('', '', '', ' ', '\n\t ', ' '.repeat(100));
const escape = oneOf(
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\u0041',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\u0000',
  '\\x',
  '\\u12',
);
const string: Grammar = oneOf(
  (random) => JSON.stringify(word(random)),
  sequence('"', many(oneOf(escape, 'a', 'é'), 0, 12), '"'),
  (random) => `"${'long '.repeat(Math.floor(random() * 400))}"`,
);
const name: Grammar = oneOf('"template"', '"data"', '"a"', '"__proto__"', '"\\u0064ata"', '""', string);
const literal = oneOf('true', 'false', 'null', '0', '-1.5e3', '12', oddNumber, string);
const value = recursive(
  literal,
  (within) =>
    oneOf(
      sequence('[', blank, many(within, 0, 6, ','), blank, ']'),
      sequence('{', blank, many(sequence(name, blank, ':', blank, within), 0, 6, ','), blank, '}'),
    ),
  5,
);
const wide: Grammar = (random) =>
  `{"template":{"data":[${Array.from({ length: Math.floor(random() * 26_000) }, () => 1).join()}]}}`;

/** Bodies of requests: mostly objects, as only objects are accepted. */
export const json: Grammar = oneOf(
  sequence(oneOf('', '', '\ufeff', ' '), '{', many(sequence(name, ':', value), 0, 8, ','), '}'),
  sequence('{"template":{"data":', value, '}}'),
  value,
  wide,
);
/** Makes one value that JSON.parse accepts. */
export function jsonValue(random: Parameters<Grammar>[0]): unknown {
  for (;;) {
    try {
      return JSON.parse(value(random));
    } catch {
      // The grammar makes invalid JSON too.
    }
  }
}
