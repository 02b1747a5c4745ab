import { idToBytes } from '../../formats/ids.ts';
import { byId, changeRow, execute, type Param, query } from '../client.ts';
import type { Column } from './columns.ts';
import { type Columns, type RecordOf, snake, type Table } from './table.ts';

/** The statements that most tables need, on the rows of one workspace. */

/** Values of some fields of the wanted rows, such as `{ id }`. */
type RowKey<Fields extends Columns> = Partial<RecordOf<Table<Fields>>>;

/** `FOR UPDATE` locks what is read until the transaction ends. */
export type Lock = 'FOR UPDATE' | '';

/** Returns a table with its condition. A row that is named by its id is locked alone, without others beside it. */
function ofKey<Fields extends Columns>(
  workspaceId: string,
  { name, fields }: Table<Fields>,
  key: RowKey<Fields>,
) {
  const own = Object.entries(key).map(([field, value]) => {
    const { write } = fields[field] as Column;
    return { is: `r.${snake(field)} = ?`, value: write ? write(value as never) : (value as Param) };
  });
  const conditions = ['r.workspace_id = ?', ...own.map(({ is }) => is)].join(' AND ');
  return {
    sql: `${name} r ${'id' in key ? byId : ''} WHERE ${conditions}`,
    values: [idToBytes(workspaceId), ...own.map(({ value }) => value)],
  };
}

export async function findRow<Fields extends Columns>(
  workspaceId: string,
  table: Table<Fields>,
  key: RowKey<Fields>,
  lock: Lock = '',
): Promise<RecordOf<Table<Fields>> | null> {
  const { sql, values } = ofKey(workspaceId, table, key);
  return table.toFirst(await execute(`SELECT ${table.columns} FROM ${sql} ${lock}`, values));
}

export async function countRows<Fields extends Columns>(
  workspaceId: string,
  table: Table<Fields>,
  key: RowKey<Fields> = {},
): Promise<number> {
  const { sql, values } = ofKey(workspaceId, table, key);
  const [row] = await execute<{ count: number }[]>(`SELECT COUNT(*) AS count FROM ${sql}`, values);
  return row!.count;
}

export async function listRows<Fields extends Columns>(
  workspaceId: string,
  table: Table<Fields>,
  key: RowKey<Fields>,
  order: 'id' | 'id DESC',
): Promise<RecordOf<Table<Fields>>[]> {
  const { sql, values } = ofKey(workspaceId, table, key);
  return table.toRecords(await query(`SELECT ${table.columns} FROM ${sql} ORDER BY ${order}`, values));
}

/** Lists the rows that have these ids, newest first. */
export async function listRowsByIds<Fields extends Columns>(
  workspaceId: string,
  table: Table<Fields>,
  ids: string[],
): Promise<RecordOf<Table<Fields>>[]> {
  if (ids.length === 0) return [];
  const sql = `SELECT ${table.columns} FROM ${table.name} ${byId} WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC`;
  return table.toRecords(await query(sql, [idToBytes(workspaceId), ids.map(idToBytes)]));
}

/** `more`: columns that are not in the map. */
export async function insertRow<Fields extends Columns>(
  workspaceId: string,
  table: Table<Fields>,
  record: RecordOf<Table<Fields>>,
  more: Record<string, Param> = {},
): Promise<void> {
  const row = { ...table.toRow(record), workspace_id: idToBytes(workspaceId), ...more };
  await query(`INSERT INTO ${table.name} SET ?`, [row]);
}

/** A table, or the part of it that an update writes. */
type Changing<Stored> = { name: string; toRow: (record: Stored) => object };

/** Writes the fields of this map to the row that has the id. `more`: columns that are not in the map. */
export async function updateRow<Stored extends { id: string }>(
  workspaceId: string,
  table: Changing<Stored>,
  record: Stored,
  more: Record<string, Param> = {},
): Promise<void> {
  await query(`UPDATE ${table.name} ${byId} SET ? WHERE id = ? AND workspace_id = ?`, [
    { ...table.toRow(record), ...more },
    idToBytes(record.id),
    idToBytes(workspaceId),
  ]);
}

/** Returns whether there was such a row. */
export function deleteRow<Fields extends Columns>(
  workspaceId: string,
  table: Table<Fields>,
  key: RowKey<Fields>,
): Promise<boolean> {
  const { sql, values } = ofKey(workspaceId, table, key);
  return changeRow(`DELETE r FROM ${sql}`, values);
}

/** The usual statements on the rows of one table. */
export type Rows<Stored> = {
  insert: (workspaceId: string, record: Stored) => Promise<void>;
  find: (workspaceId: string, id: string) => Promise<Stored | null>;
  /** Locked until the transaction ends. */
  findForUpdate: (workspaceId: string, id: string) => Promise<Stored | null>;
  /** How many rows the workspace has. */
  findCount: (workspaceId: string) => Promise<number>;
  /** The rows with these ids that exist, newest first. */
  listByIds: (workspaceId: string, ids: string[]) => Promise<Stored[]>;
  update: (workspaceId: string, record: Stored & { id: string }) => Promise<void>;
  /** Returns whether there was such a row. */
  delete: (workspaceId: string, id: string) => Promise<boolean>;
};

/** Makes the usual statements of a table whose rows have an id. An update writes the fields of `changing`. */
export function rowsOf<Fields extends Columns>(
  table: Table<Fields>,
  changing: Changing<RecordOf<Table<Fields>>> = table,
): Rows<RecordOf<Table<Fields>>> {
  const keyOf = (id: string) => ({ id }) as unknown as RowKey<Fields>;
  return {
    insert: (workspaceId, record) => insertRow(workspaceId, table, record),
    find: (workspaceId, id) => findRow(workspaceId, table, keyOf(id)),
    findForUpdate: (workspaceId, id) => findRow(workspaceId, table, keyOf(id), 'FOR UPDATE'),
    findCount: (workspaceId) => countRows(workspaceId, table),
    listByIds: (workspaceId, ids) => listRowsByIds(workspaceId, table, ids),
    update: (workspaceId, record) => updateRow(workspaceId, changing, record),
    delete: (workspaceId, id) => deleteRow(workspaceId, table, keyOf(id)),
  };
}
