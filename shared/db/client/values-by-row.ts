import type { Param } from './connection.ts';
import { written } from './text.ts';

/** Values that differ by row, in one statement, in SQL that every server of the MySQL kind takes. */

/** A row's key, as SQL, and what the row gets, as SQL too unless it is a number. */
export type RowValue = readonly [key: string, value: string | number];

/** So many are compared one after the other. */
const atOnce = 8;
/** Of keys with numbers that follow one another: there is less to read of them. */
const numbersAtOnce = 16;

/**
 * SQL for the value of each of these rows, which are in the order of their keys. Not one CASE for all: the server would go
 * through it from the start for each row. So it halves them, until few are left.
 */
export function valueByRow(column: string, rows: readonly RowValue[]): string {
  const first = rows[0]![1];
  if (rows.every(([, value]) => value === first)) return `${first}`;
  if (rows.length <= numbersAtOnce && rows.every(([, value], index) => value === Number(first) + index))
    return `${Number(first) - 1} + FIELD(${column}, ${rows.map(([key]) => key).join(', ')})`;
  if (rows.length <= atOnce)
    return `CASE ${column} ${rows.map(([key, value]) => `WHEN ${key} THEN ${value}`).join(' ')} END`;
  const middle = rows.length >> 1;
  const [before, after] = [rows.slice(0, middle), rows.slice(middle)];
  return `IF(${column} < ${after[0]![0]}, ${valueByRow(column, before)}, ${valueByRow(column, after)})`;
}

/** These rows as a table of a statement, for few of them: each is a SELECT to the server. */
export function tableOf(
  name: string,
  columns: readonly string[],
  rows: readonly (readonly Param[])[],
): string {
  const selects = rows.map((row, index) => {
    const values = row.map((value, place) => written(value) + (index === 0 ? ` AS ${columns[place]}` : ''));
    return `SELECT ${values.join(', ')}`;
  });
  return `(${selects.join(' UNION ALL ')}) AS ${name}`;
}
