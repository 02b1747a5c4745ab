import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import mysql from 'mysql2';
import { idToBytes } from '../formats/ids.ts';
import {
  type Changed,
  type Connection,
  database,
  discardIfMisled,
  type Param,
  type Row,
  send,
} from './client/connection.ts';
import type { Columns, RecordOf, Table } from './client/table.ts';
import { hex, written } from './client/text.ts';
import { sendLimited } from './client/time-limit.ts';
import { withConnection } from './client/unit.ts';
import { type RowValue, valueByRow } from './client/values-by-row.ts';

export { closeDatabase, database, inShareOf, type Param, type Row } from './client/connection.ts';
export { isDuplicateKey, isLockConflict, isLockWait } from './client/faults.ts';
export { hex, literal, sqlTime, written, writtenRows } from './client/text.ts';
export { limitTime } from './client/time-limit.ts';
export {
  afterCommit,
  beforeCommit,
  beforeFirstStatement,
  changeCount,
  insertNew,
  onOneConnection,
  outsideTransaction,
  transaction,
} from './client/unit.ts';
export { type RowValue, tableOf, valueByRow } from './client/values-by-row.ts';

/** The database client of shared/db. Statements run inside the current transaction where there is one. */

/** Runs a prepared statement. Use it for the few statements of the hot paths whose text never varies. */
export function execute<T = Row[]>(sql: string, values: readonly Param[] = []): Promise<T> {
  return withConnection((connection) => send<T>(connection, true, sql, values));
}

/** Runs a statement as text, for SQL whose length varies (IN lists, multi-row inserts). `?` takes nested arrays. */
export function query<T = Row[]>(sql: string, values: readonly unknown[] = []): Promise<T> {
  return withConnection((connection) => sendLimited<T>(connection, sql, values));
}

/** Returns the text of a statement for `queryEach`, with the values put in. */
export function statement(sql: string, values: readonly unknown[]): string {
  return mysql.format(sql, values as Parameters<typeof mysql.format>[1]);
}

/** Runs a prepared statement that changes one row at most; tells whether it has. */
export async function changeRow(sql: string, values: readonly Param[]): Promise<boolean> {
  return (await execute<Changed>(sql, values)).affectedRows === 1;
}

/** Runs a statement as text; returns how many rows it has changed. */
export async function changeRows(sql: string, values: readonly unknown[] = []): Promise<number> {
  return (await query<Changed>(sql, values)).affectedRows;
}

/**
 * Runs statements one after the other. The next text is built while the server works on the current statement, but sent
 * only after the answer: a deadlock ends the transaction, and a statement sent behind it would commit by itself.
 */
export async function queryEach(statements: Iterable<string>): Promise<void> {
  const rest = statements[Symbol.iterator]();
  let next = rest.next();
  while (!next.done) {
    // The next statement is built one turn of the event loop later, after the current statement was sent.
    const following = nextTurn().then(() => rest.next());
    [, next] = await Promise.all([query(next.value), following]);
  }
}

/** Runs a Knex query, inside the current transaction where there is one. */
export async function run<T>(builder: Knex.QueryBuilder): Promise<T> {
  return withConnection(async (connection: Connection) => {
    try {
      return (await builder.connection(connection)) as T;
    } catch (error) {
      discardIfMisled(connection, error);
      throw error;
    }
  });
}

/** Makes a Knex query on a table, for `run`. Where indexes are given, the server must use one of them. */
export function knexTable(name: string, indexes: string[] = []): Knex.QueryBuilder {
  const knex = database();
  if (indexes.length === 0) return knex(name);
  return knex(knex.raw(`?? FORCE INDEX (${indexes.map(() => '??').join(', ')})`, [name, ...indexes]));
}

/**
 * An index hint for statements that lock rows by their ids. When the optimizer takes a table for nearly empty, it reads
 * the whole table and so waits for the locks of every other transaction.
 */
export const byId = 'FORCE INDEX (PRIMARY)';

/**
 * Returns SQL that tells which rows come after a key of several columns, or up to it, with its values. It names each
 * column on its own: for a comparison of lists, `(a, b) > (?, ?)`, the server reads the index from its start.
 */
export function comparedKey<Value>(names: readonly string[], comparison: '>' | '<=', key: readonly Value[]) {
  const alternatives = names.map((name, place) => {
    const isLast = place === names.length - 1;
    const equal = names.slice(0, place).map((one) => `${one} = ?`);
    return [...equal, `${name} ${isLast ? comparison : comparison[0]} ?`].join(' AND ');
  });
  return {
    sql: `(${alternatives.join(' OR ')})`,
    values: names.flatMap((_, place) => key.slice(0, place + 1)),
  };
}

/** Sets the columns of the table to different values for each record, in one statement. The rows must be locked. */
export async function updateEach<Fields extends Columns>(
  table: Table<Fields>,
  records: readonly (RecordOf<Table<Fields>> & { id: string })[],
): Promise<void> {
  if (records.length === 0) return;
  const rows = records
    .map((record) => ({ key: hex(idToBytes(record.id)), values: table.toValues(record) }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const sets = table.names.map((column, place) => {
    const values = rows.map(({ key, values }): RowValue => [key, written(values[place]!)]);
    return `${column} = ${valueByRow('id', values)}`;
  });
  await query(
    `UPDATE ${table.name} ${byId} SET ${sets.join(', ')} WHERE id IN (${rows.map(({ key }) => key).join(',')})`,
  );
}

/** Returns the value to store in a column of bytes, or to compare it with. */
export function bytesOf<Absent extends null | undefined>(text: string | Absent): Buffer | Absent {
  return typeof text === 'string' ? Buffer.from(text) : text;
}
