import type { Param } from './connection.ts';
import { written } from './text.ts';

/** SQL that gives each row its own value in one statement, in a form that MySQL and MariaDB both take. */

/** A row's key, as SQL, and its new value: a number, or SQL. */
export type RowValue = readonly [key: string, value: string | number];

/** At most this many keys are compared one after the other. */
const atOnce = 8;
/** The same limit for keys whose values are consecutive numbers: their SQL is shorter. */
const numbersAtOnce = 16;

/**
 * Returns SQL for the value of each row; `rows` must be in the order of their keys. One CASE for all rows would be
 * slow: the server would search it from the start for each row. So the SQL halves the rows until few are left.
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

/** Returns SQL for the rows as a table in a statement. Only for few rows: the server sees each one as a SELECT. */
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
