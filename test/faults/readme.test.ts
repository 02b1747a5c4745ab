import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { complaintsOf, pageOf } from './rows/page.ts';
import { readTags, tagsOf } from './rows/tags.ts';

const tags = readTags();

test('each row has a test that shows it, and each tag stands above a test and names a row', () => {
  expect(complaintsOf(tags)).toEqual([]);
  expect(tags.shown.length).toBeGreaterThan(250);
});

test('the page is what the rows and the tests make: node test/faults/write-readme.ts writes it', () => {
  const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  expect(page).toBe(pageOf(tags.shown));
  expect(page.split('\n').filter((line) => line.length > 160)).toEqual([]);
});

const file = 'test/planted.test.ts';
// This file is searched for tags as well and must have none, so the sources below say Tag instead of Shows.
const tagsIn = (source: string, path = file) =>
  tagsOf(path, source.replaceAll('// Tag ', '// Shows ').replaceAll('// tag ', '// shows '));

test('a tag shows the test, the group or the row of a table that is below it', () => {
  const source = `
// Tag A1
test('one', { timeout: 1 }, async () => {});

// Tag A2, F3
// For a reason of its own.
describe.each(['a', /'b/])(\`group of $name \${1}\`, (name) => {
  // Tag A4
  test.concurrent.for([
    // Tag A5
    ['five', ")('no name'"],
    { name: 'six' },
    // Tag A6
    { name: 'seven' },
  ])('%s is tried', () => test('never', () => {}));
});

const cases = [
  // Tag A7
  [
    'kept apart',
  ],
];`;
  const shown = [
    ['A1', 'one'],
    ['A2', 'group of $name ${1}'],
    ['F3', 'group of $name ${1}'],
    ['A4', '%s is tried'],
    ['A5', 'five is tried'],
    ['A6', '%s is tried: seven'],
    ['A7', 'kept apart'],
  ];
  expect(tagsIn(source)).toEqual({
    shown: shown.map(([row, name]) => ({ row, file, name })),
    complaints: [],
  });
});

test.each([
  ['above nothing', '// Tag A1\n'],
  ['above a blank line', "// Tag A1\n\ntest('one', () => {});"],
  ['above something else', "// Tag A1\nconst one = test('one', () => {});"],
  ['above a test without a name of its own', '// Tag A1\ntest(name, () => {});'],
  ['above a row that begins with no text', 'test.each([\n  // Tag A1\n  [1],\n])("%i", () => {});'],
  ['with a full stop', "// Tag A1.\ntest('one', () => {});"],
  ['with more words', "// Tag A1 and F2\ntest('one', () => {});"],
  ['in small letters', "// tag a1\ntest('one', () => {});"],
  ['beside the test', "test('one', () => {}); // Tag A1"],
  ['in a block', "/** Shows A1 */\ntest('one', () => {});"],
])('a tag %s is refused, and not passed over', (_where, source) => {
  expect(tagsIn(source)).toEqual({ shown: [], complaints: [expect.stringMatching(/^test\/planted/)] });
});

test('a tag in a file that has no tests is refused', () => {
  const { shown, complaints } = tagsIn("// Tag A1\ntest('one', () => {});", 'test/support/planted.ts');
  expect([shown.length, complaints.length]).toEqual([0, 1]);
});

test('a row without a test, a test of an unknown row, a row that is there twice and a gap are refused', () => {
  const planted = { shown: [{ row: 'A9', file, name: 'one' }], complaints: ['a tag'] };
  expect(complaintsOf(planted, ['A1', 'A3', 'A3', 'F1'])).toEqual([
    'a tag',
    `${file}: there is no row A9, which "one" is to show`,
    'A1 is shown by no test',
    'A3 is shown by no test',
    'A3 is shown by no test',
    'F1 is shown by no test',
    'A3 is there twice',
    'A2 is left out',
  ]);
});
