import { idToBytes } from '../../formats/ids.ts';
import { byId, changeRows, execute } from '../client.ts';
import type { Lock } from './rows.ts';
import type { Columns, RecordOf, Table } from './table.ts';

/** The statements that most tables need, on the rows of any workspace. */

/** Returns the row with this id, whatever its workspace is. */
export async function findRowOfAny<Fields extends Columns>(
  table: Table<Fields>,
  id: string,
  lock: Lock = '',
): Promise<RecordOf<Table<Fields>> | null> {
  const sql = `SELECT ${table.columns} FROM ${table.name} ${byId} WHERE id = ? ${lock}`;
  return table.toFirst(await execute(sql, [idToBytes(id)]));
}

/** Deletes the rows that have these ids, of any workspace, and locks no others; returns how many went. */
export async function deleteByIds(name: string, ids: Buffer[]): Promise<number> {
  return ids.length === 0 ? 0 : changeRows(`DELETE r FROM ${name} r ${byId} WHERE r.id IN (?)`, [ids]);
}
