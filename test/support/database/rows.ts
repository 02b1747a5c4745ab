import { config } from '../../../shared/config/config.ts';
import { type Param, query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';

const hexOf = (value: Param | undefined) => (value instanceof Buffer ? value.toString('hex') : '');

type Column = { tableName: string; columnName: string; type: string };

/**
 * Returns every row that belongs to the workspace, by table: rows with the workspace's id, and rows that contain the id
 * of such a row, as the body of an email does.
 */
export async function rowsOf(
  workspaceId: string,
  { withDue = true } = {},
): Promise<Record<string, string[]>> {
  const inText = (row: object) => JSON.stringify(withDue ? row : { ...row, due_at: null, parked: null });
  const tables = await columnsByTable();
  const rows: Record<string, string[]> = Object.fromEntries([...tables.keys()].map((name) => [name, []]));
  const filled = await filledAmong([...tables.keys()]);
  const isOwned = (name: string) => tables.get(name)!.some(({ columnName }) => columnName === 'workspace_id');
  const own = idToBytes(workspaceId);
  const ids = new Set([own.toString('hex')]);
  const readOwned = async (name: string) => {
    const found = await query<Record<string, Param>[]>(`SELECT * FROM \`${name}\` WHERE workspace_id = ?`, [
      own,
    ]);
    for (const { id } of found) if (id instanceof Buffer) ids.add(id.toString('hex'));
    rows[name] = found.map(inText).toSorted();
  };
  await Promise.all(filled.filter(isOwned).map(readOwned));
  const readNaming = async (name: string) => {
    const names = tables.get(name)!.filter(({ type }) => type === 'binary(16)');
    const found = await query<Record<string, Param>[]>(`SELECT * FROM \`${name}\``);
    const belonging = found.filter((row) => names.some(({ columnName }) => ids.has(hexOf(row[columnName]))));
    rows[name] = belonging.map(inText).toSorted();
  };
  await Promise.all(filled.filter((name) => !isOwned(name)).map(readNaming));
  return rows;
}

const known = new Map<string, Map<string, Column[]>>();

/** Asks once for each database, because the server opens every table to answer. */
async function columnsByTable(): Promise<Map<string, Column[]>> {
  const database = config.MYSQL_URL;
  let tables = known.get(database);
  if (!tables) {
    const columns = await query<Column[]>(
      `SELECT table_name AS tableName, column_name AS columnName, column_type AS type
        FROM information_schema.columns WHERE table_schema = DATABASE()`,
    );
    tables = Map.groupBy(columns, ({ tableName }) => tableName);
    known.set(database, tables);
  }
  return tables;
}

/** Returns the tables that have rows, with one query. Most tables are empty in most tests. */
async function filledAmong(names: string[]): Promise<string[]> {
  const questions = names.map((name) => `(SELECT '${name}' AS name FROM \`${name}\` LIMIT 1)`);
  const rows = await query<{ name: string }[]>(questions.join(' UNION ALL '));
  return rows.map(({ name }) => name);
}
