import type mysql from 'mysql2/promise';

/** SQL for a table of numbers `n` from `?` on, with `rowsAtOnce` rows. */
export const rowsAtOnce = 10_000;
export const numbers = `(SELECT ? + a.i * 100 + b.i AS n FROM
  (SELECT ROW_NUMBER() OVER () - 1 AS i FROM information_schema.columns LIMIT 100) a,
  (SELECT ROW_NUMBER() OVER () - 1 AS i FROM information_schema.columns LIMIT 100) b) numbers`;

const dayMs = 86_400_000;

/**
 * Returns SQL for ids of the last days that rise with `n`, as real ids do. `kind`, a hex digit, keeps the ids of two
 * tables apart.
 */
export const idOf = (kind: string, n = 'n'): string =>
  `UNHEX(RPAD(LPAD(HEX(${Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs} + ${n} * 100), 12, '0'), 32, '${kind}'))`;

/**
 * Copies the row with this id `count` times. `changes` gives the columns that must differ, in SQL, which may use `n`.
 */
export async function multiply(
  database: mysql.Connection,
  like: { table: string; id: Buffer },
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const [found] = await database.query<mysql.RowDataPacket[]>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name = ? AND COALESCE(generation_expression, '') = ''
     ORDER BY ordinal_position`,
    [like.table],
  );
  const columns = found.map((row) => String(row['name']));
  const values = columns.map((column) => changes[column] ?? `one.${column}`);
  for (let done = 0; done < count; done += rowsAtOnce)
    await database.query(
      `INSERT INTO ${like.table} (${columns.join(', ')})
       SELECT ${values.join(', ')} FROM ${numbers}, ${like.table} one WHERE one.id = ? AND n < ?`,
      [done, like.id, count],
    );
}
