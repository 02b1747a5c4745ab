import { newUuid } from '../../formats/ids.ts';
import type { Columns, RecordOf, RowOf, Table } from '../client/table.ts';
import { byId, changeRow, execute, query } from '../client.ts';
import type { ClaimedTable, DueTable, Lease } from './table.system.ts';

/** Claims due rows one by one, and finds the overdue rows of the kinds of work with few rows (`DueTable`). */

/** Claims a row until the lease ends; null when it is not due or another worker has it (architecture rule 4). */
export async function claimDue(
  table: ClaimedTable,
  { id, at, until }: { id: string; at: Date; until: Date },
): Promise<Lease | null> {
  const token = newUuid(at);
  const lease = table.isLeased ? { sql: 'lease_token = ?, claims = claims + 1, ', values: [token] } : null;
  const isClaimed = await changeRow(
    `UPDATE ${table.name} ${byId} SET ${lease?.sql ?? ''}${table.due} = ?
     WHERE ${table.key.name} = ? AND ${table.due} <= ?`,
    [...(lease?.values ?? []), until, table.key.toBytes(id), at],
  );
  return isClaimed ? { id, token } : null;
}

/** Returns the record, locked until the transaction ends; null where the lease is no longer ours. */
export async function findHeldForUpdate<Fields extends Columns>(
  { key }: ClaimedTable,
  map: Table<Fields>,
  { id, token }: Lease,
): Promise<RecordOf<Table<Fields>> | null> {
  const rows = await execute<RowOf<Table<Fields>>[]>(
    `SELECT * FROM ${map.name} ${byId} WHERE ${key.name} = ? AND lease_token = ? FOR UPDATE`,
    [key.toBytes(id), token],
  );
  return map.toFirst(rows);
}

/**
 * Gives the lease back and sets when the row is due again; null: never. Changes nothing if the lease is no longer ours.
 */
export async function updateReleased(
  { name, key, due }: ClaimedTable,
  { id, token }: Lease,
  dueAt: Date | null,
): Promise<void> {
  await execute(
    `UPDATE ${name} ${byId} SET lease_token = NULL, ${due} = ? WHERE ${key.name} = ? AND lease_token = ?`,
    [dueAt, key.toBytes(id), token],
  );
}

const rowsOf = ({ name, index, due }: DueTable, comparison: '<' | '<=') =>
  `FROM ${name} FORCE INDEX (${index}) WHERE ${due} ${comparison} ?`;

/** Returns for each table the time of the row that has been due for longest; null where no row is due. */
export async function listOldestDue(tables: DueTable[], at: Date): Promise<(Date | null)[]> {
  const each = tables.map(
    (table, place) => `SELECT ${place} AS place, MIN(${table.due}) AS due ${rowsOf(table, '<=')}`,
  );
  const rows = await query<{ place: number; due: Date | null }[]>(
    each.join(' UNION ALL '),
    tables.map(() => at),
  );
  return tables.map((_, index) => rows.find(({ place }) => place === index)?.due ?? null);
}

type OverdueIn = {
  place: number;
  row_key: Buffer;
  due: Date;
  claims: number;
  request_id: Buffer | null;
};
export type OverdueRow = { id: string; dueAt: Date; claims: number; requestId: string | null };

/**
 * Lists for each table the overdue rows, longest due first: rows that no worker has claimed, and rows of a dead worker.
 * One statement reads all tables: it runs every few seconds and usually finds nothing.
 */
export async function listOverdue(tables: DueTable[], before: Date, limit: number): Promise<OverdueRow[][]> {
  const each = tables.map(
    (table, index) =>
      `(SELECT ${index} AS place, ${table.key.name} AS row_key, ${table.due} AS due,
          ${table.isLeased ? 'claims' : '0'} AS claims, ${table.hasRequest ? 'request_id' : 'NULL'} AS request_id
        ${rowsOf(table, '<')} ORDER BY ${table.due} LIMIT ?)`,
  );
  const rows = await query<OverdueIn[]>(
    each.join(' UNION ALL '),
    tables.flatMap(() => [before, limit]),
  );
  return tables.map(({ key }, index) =>
    rows
      .filter(({ place }) => place === index)
      .map((row) => ({
        id: key.toId(row.row_key),
        dueAt: row.due,
        claims: row.claims,
        requestId: row.request_id?.toString() ?? null,
      })),
  );
}
