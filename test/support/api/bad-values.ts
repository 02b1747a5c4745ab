import type { Schema } from './description.ts';
import { exampleOf, type Resolve, typesOf, variantsOf } from './fields.ts';

/** A value for a field; `label` describes it. `spelling` is sent in its place where JSON cannot express the value. */
export type Tried = {
  label: string;
  value: unknown;
  spelling?: string;
  /** The value is text that no database could store, so every field must refuse it. */
  isNeverText?: boolean;
  /** The value has as many characters as the field allows. */
  isLongest?: boolean;
};

/** JSON.parse makes `__proto__` a key like any other; a literal would set the prototype. */
const poison = () =>
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');

const ofEveryKind: Tried[] = [
  { label: 'null', value: null },
  { label: 'true', value: true },
  { label: '0', value: 0 },
  { label: '1.5', value: 1.5 },
  { label: 'a word', value: 'nothing' },
  { label: 'an empty array', value: [] },
  { label: '[null]', value: [null] },
  { label: 'an empty object', value: {} },
  { label: 'an object', value: { toString: 'text', length: 1 } },
  { label: 'an object with __proto__', value: poison() },
];

/** Type -> values that come close to a value of the type, or are hard to tell from one. */
const close: Record<string, Tried[]> = {
  integer: [
    { label: '-1', value: -1 },
    { label: '2^31', value: 2 ** 31 },
    { label: '-2^31-1', value: -(2 ** 31) - 1 },
    { label: '1e400', value: Infinity, spelling: '1e400' },
    { label: 'a number as text', value: '5' },
    { label: 'an empty text', value: '' },
  ],
  boolean: [
    { label: '"true"', value: 'true' },
    { label: '1', value: 1 },
    { label: 'an empty text', value: '' },
  ],
  array: [
    { label: '[[]]', value: [[]] },
    { label: 'a text', value: 'a,b' },
    { label: 'an object like an array', value: { 0: 'a', length: 1 } },
  ],
  string: [
    { label: 'an empty text', value: '' },
    { label: 'a blank', value: ' ' },
    { label: '["text"]', value: ['text'] },
    { label: '"__proto__"', value: '__proto__' },
    { label: '"constructor"', value: 'constructor' },
    { label: 'an impossible date', value: '2027-02-30T10:00:00Z' },
    { label: 'a date without a zone', value: '2027-02-20T10:00:00' },
    { label: '100,000 characters', value: 'x'.repeat(100_000) },
    ...[0x01, 0x0b, 0x1b].map((code) => ({
      label: `the control character ${code}`,
      value: `a${String.fromCharCode(code)}b`,
    })),
  ],
};

const neverText = [
  { label: 'NUL', value: 'a\0b', isNeverText: true },
  { label: 'half of a surrogate pair', value: 'a\ud83d', isNeverText: true },
  { label: 'the other half', value: '\ude00b', isNeverText: true },
];

/** Returns values for a field of this schema: of every kind, around its limits, and text that is hard to store. */
export function badValuesFor(resolve: Resolve, schema: Schema): Tried[] {
  const variants = variantsOf(resolve, schema);
  const types = [...typesOf(resolve, schema)];
  return [
    ...ofEveryKind,
    ...variants.flatMap((variant) => aroundLimits(resolve, variant)),
    ...types.flatMap((type) => close[type] ?? []),
    ...(types.includes('string') ? neverText : []),
    ...(variants.some(isFree) ? free() : []),
  ];
}

function aroundLimits(resolve: Resolve, variant: Schema): Tried[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, items } = variant;
  const tried: Tried[] = [];
  if (minimum !== undefined) tried.push({ label: 'one under its minimum', value: minimum - 1 });
  if (maximum !== undefined) tried.push({ label: 'one over its maximum', value: maximum + 1 });
  if (minLength > 0) tried.push({ label: 'one too short', value: 'x'.repeat(minLength - 1) });
  if (maxLength !== undefined) {
    // Characters of two UTF-16 units where the cost allows it, because the limit counts code points.
    const character = maxLength > 20_000 ? 'x' : '😀';
    tried.push({ label: 'as long as it may be', value: character.repeat(maxLength), isLongest: true });
    tried.push({ label: 'one too long', value: character.repeat(maxLength + 1) });
  }
  const listOf = (length: number) => Array.from({ length }, () => exampleOf(resolve, items));
  if (minItems > 0) tried.push({ label: 'an item too few', value: listOf(minItems - 1) });
  if (maxItems !== undefined) tried.push({ label: 'an item too many', value: listOf(maxItems + 1) });
  return tried;
}

/** Tells whether the schema takes any JSON object. */
const isFree = ({ type, additionalProperties: more }: Schema) => type === 'object' && more === true;

function free(): Tried[] {
  const deep = JSON.parse(`${'{"a":['.repeat(13)}${']}'.repeat(13)}`);
  return [
    ...neverText.flatMap(({ label, value }) => [
      { label: `${label} in a value`, value: { a: { b: [value] } } },
      { label: `${label} in a key`, value: { [value]: 1 } },
    ]),
    { label: 'an empty key', value: { '': 1 } },
    { label: 'a long key', value: { ['x'.repeat(100_000)]: 1 } },
    { label: 'many levels', value: deep },
    {
      label: '10,000 keys',
      value: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index])),
    },
    { label: 'numbers that are no integers', value: { a: 1.5e300, b: -0, c: 2 ** 63 } },
    { label: '__proto__ within', value: { a: poison(), b: [poison()] } },
  ];
}
