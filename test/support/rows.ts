import { query } from '../../shared/db/client.ts';
import { idToBytes } from '../../shared/formats/ids.ts';

type Column = { tableName: string; columnName: string; type: string };

/**
 * Every row that belongs to the workspace, from every table: those with its id, and those that name such a row by
 * its id, as the body of an email does.
 */
export async function rowsOf(
  workspaceId: string,
  { withDue = true } = {},
): Promise<Record<string, string[]>> {
  const inText = (row: object) => JSON.stringify(withDue ? row : { ...row, due_at: null, parked: null });
  const columns = await query<Column[]>(
    `SELECT table_name AS tableName, column_name AS columnName, column_type AS type
      FROM information_schema.columns WHERE table_schema = DATABASE()`,
  );
  const tables = Map.groupBy(columns, ({ tableName }) => tableName);
  const rows: Record<string, string[]> = {};
  const own = idToBytes(workspaceId);
  const ids = new Set([own.toString('hex')]);
  for (const name of tables.keys())
    if (tables.get(name)!.some(({ columnName }) => columnName === 'workspace_id')) {
      const found = await query(`SELECT * FROM \`${name}\` WHERE workspace_id = ?`, [own]);
      for (const { id } of found) if (id instanceof Buffer) ids.add(id.toString('hex'));
      rows[name] = found.map(inText).toSorted();
    }
  for (const name of tables.keys())
    if (!rows[name]) {
      const names = tables.get(name)!.filter(({ type }) => type === 'binary(16)');
      const found = await query(`SELECT * FROM \`${name}\``);
      const belonging = found.filter((row) =>
        names.some(({ columnName }) => ids.has(row[columnName]?.toString('hex'))),
      );
      rows[name] = belonging.map(inText).toSorted();
    }
  return rows;
}
