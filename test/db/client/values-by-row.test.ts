import { expect, test } from 'vitest';
import { hex, literal, query, type RowValue, tableOf, valueByRow } from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

// Below, at and above the number of rows that are compared one after the other.
test.each([1, 8, 9, 100])('each of %i rows gets its own value', async (count) => {
  const rows = Array.from({ length: count }, (_, index) => {
    const id = Buffer.alloc(16, index * 2);
    return { id, value: index % 3 === 0 ? null : `it's \\ ${index}` };
  });
  const values = rows.map(({ id, value }): RowValue => [hex(id), literal(value)]);
  const found = await query(
    `SELECT id, ${valueByRow('id', values)} AS value FROM ${tableOf(
      'given',
      ['id', 'place'],
      rows.map(({ id }, index) => [id, index]),
    )} ORDER BY place`,
  );
  expect(found).toEqual(rows);
});

test('numbers that follow one another reach their rows, and so do those that do not', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => {
    const id = Buffer.alloc(16, index);
    return { id, number: index === 30 ? 7 : 1_000 + index };
  });
  const values = rows.map(({ id, number }): RowValue => [hex(id), number]);
  const given = tableOf(
    'given',
    ['id', 'place'],
    rows.map(({ id }, index) => [id, index]),
  );
  const found = await query(`SELECT id, ${valueByRow('id', values)} AS number FROM ${given} ORDER BY place`);
  expect(found.map(({ number }) => Number(number))).toEqual(rows.map(({ number }) => number));
});

test('a value that all rows have is written once', () => {
  const rows = Array.from({ length: 50 }, (_, index): RowValue => [hex(Buffer.alloc(16, index)), '7']);
  expect(valueByRow('id', rows)).toBe('7');
});
