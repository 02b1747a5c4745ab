import { expect, test } from 'vitest';
import { recordOf, tableOf } from '../../../scripts/setup/admin/table.ts';

test('rows are aligned text: numbers to the right, nothing for null, a column for each name', () => {
  const rows = [
    { id: 'a', count: 7, at: new Date(0), name: null },
    { id: 'bcd', count: 120, at: null, name: 'Zoë', extra: { kind: 'x' } },
  ];
  expect(tableOf(rows).split('\n')).toEqual([
    'id   count  at                        name  extra',
    'a        7  1970-01-01T00:00:00.000Z',
    'bcd    120                            Zoë   {"kind":"x"}',
    '',
  ]);
});

test("a line break or an escape sequence in a customer's text does not leave its cell", () => {
  expect(tableOf([{ name: 'a\nb\u001b[31mc' }])).toBe('name\na b [31mc\n');
});

test('a single record has a line for each value, and a customer cannot add one or reach the terminal', () => {
  const record = { id: 'a', at: new Date(0), name: 'x\nid: b\u001b[2J\u009b31m', note: null, count: 7 };
  expect(recordOf(record).split('\n')).toEqual([
    'id: a',
    'at: 1970-01-01T00:00:00.000Z',
    'name: x id: b [2J 31m',
    'note: ',
    'count: 7',
    '',
  ]);
});

test('no rows are told as none', () => {
  expect(tableOf([])).toBe('None\n');
});
