import { expect, test } from 'vitest';
import { expand, includeNames, origin } from '../../../shared/formats/templates/mjml-includes.ts';
import { cpuMsOf } from '../../support/processes/cpu-time.ts';

const include = (name: string) => `<mj-include path="${name}" />`;
const expandWith = (source: string, contents: Record<string, string>) =>
  expand(source, (name) => (Object.hasOwn(contents, name) ? contents[name] : undefined));

function textOf(source: string, contents: Record<string, string>): string {
  const expanded = expandWith(source, contents);
  if ('fault' in expanded) throw new Error(expanded.fault.message);
  return expanded.text;
}
function faultOf(source: string, contents: Record<string, string>) {
  const expanded = expandWith(source, contents);
  return 'fault' in expanded ? expanded.fault : null;
}

test('contents take the places of their elements, also in contents', () => {
  const contents = { a: `1${include('b')}2`, b: 'B', empty: '' };
  expect(textOf(`x${include('a')}y<mj-include path='b'></mj-include>${include('empty')}z`, contents)).toBe(
    'x1B2yBz',
  );
});

test('names are found once each, and where MJML has elements only', () => {
  const source = `${include('a')}${include('b')}${include('a')}<!-- ${include('c')} --><mj-text>${include('d')}</mj-text>{{ '${include('e')}' }}`;
  expect(includeNames(source)).toEqual(['a', 'b']);
  expect(includeNames('<mj-include path="{{ name }}" />')).toEqual([]);
});

test.each([
  ['an unknown name', include('nothing'), 'there is no include named nothing'],
  ['a file', include('../../../etc/passwd'), 'there is no include named ../../../etc/passwd'],
  ['an inherited name', include('constructor'), 'there is no include named constructor'],
  // Shows A36
  [
    'another type',
    '<mj-include path="a" type="html" />',
    'takes the attribute path, a name, and nothing else',
  ],
  // Shows A36
  ['no path', '<mj-include />', 'takes the attribute path, a name, and nothing else'],
  // Shows A36
  ['a name by Liquid', '<mj-include path="{{ a }}" />', 'takes the attribute path, a name, and nothing else'],
  ['itself', include('self'), 'the include self includes itself'],
  ['itself by another', include('ping'), 'the include ping includes itself'],
  ['six levels', include('l1'), 'nested more than 5 levels deep'],
  ['1,001 times nothing', include('empty').repeat(1001), 'has more than 1000 includes'],
  ['nothing a billion times', include('bomb1'), 'has more than 1000 includes'],
  ['more than 256 kB', include('large').repeat(3), 'is larger than 256 kB with its includes'],
  // Shows A36
  ['what is read to be left out, many times', include('hollow').repeat(6), 'is larger than 256 kB'],
])('%s is refused', (_name, source, says) => {
  const fault = faultOf(source, {
    a: 'A',
    self: include('self'),
    ping: include('pong'),
    pong: include('ping'),
    l1: include('l2'),
    l2: include('l3'),
    l3: include('l4'),
    l4: include('l5'),
    l5: include('l6'),
    l6: '',
    empty: '',
    bomb1: include('bomb2').repeat(1000),
    bomb2: include('bomb3').repeat(1000),
    bomb3: include('empty').repeat(1000),
    large: 'x'.repeat(100_000),
    hollow: `<mj-include path="empty">${'<a/>'.repeat(25_000)}</mj-include>`,
  });
  expect(fault?.message).toContain(says);
});

test('five levels are allowed', () => {
  const contents = { l1: include('l2'), l2: include('l3'), l3: include('l4'), l4: include('l5'), l5: 'deep' };
  expect(textOf(include('l1'), contents)).toBe('deep');
});

test('a fault is placed where its element was written', () => {
  const contents = { outer: `a\n  ${include('nothing')}` };
  expect(faultOf(`\n${include('outer')}`, contents)).toMatchObject({ include: 'outer', line: 2, column: 3 });
  expect(faultOf('\n x<mj-include />', contents)).toMatchObject({ include: null, line: 2, column: 3 });
});

test('a place of the whole is told as the place where it was written', () => {
  const expanded = expandWith(`one\n${include('a')}two\nthree`, { a: 'A1\nA2' });
  if ('fault' in expanded) throw new Error('not expanded');
  expect(expanded.text).toBe('one\nA1\nA2two\nthree');
  const at = (line: number, column: number) => origin(expanded, { message: '', line, column });
  expect(at(1, 2)).toEqual({ message: '', include: null, line: 1, column: 2 });
  expect(at(2, 1)).toEqual({ message: '', include: 'a', line: 1, column: 1 });
  expect(at(3, 2)).toEqual({ message: '', include: 'a', line: 2, column: 2 });
  expect(at(3, 3)).toEqual({ message: '', include: null, line: 2, column: 24 });
  expect(at(4, 3)).toEqual({ message: '', include: null, line: 3, column: 3 });
});

test('hostile sources take no longer than they are long', () => {
  const hostile = [
    '<',
    '<!--',
    '<mj-include ',
    '<mj-include path="',
    '<mj-text>',
    '{{',
    '{{ "',
    '{% comment %}',
    '</mj-a>',
    '<a b=',
    "<a '",
  ];
  for (const part of hostile) {
    // Each part takes a few milliseconds; quadratic work would take minutes.
    const cpuMs = cpuMsOf(() => faultOf(part.repeat(200_000 / part.length), {}));
    expect(cpuMs).toBeLessThan(2_000);
  }
});
