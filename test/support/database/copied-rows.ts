import { query } from '../../../shared/db/client.ts';

/**
 * Returns SQL for a table of the numbers from 1 to `count`. It does not read information_schema: while other files
 * create their tables, the server skips some with a warning, which a strict INSERT takes for an error.
 */
export const numbers = (count: number): string =>
  `JSON_TABLE(CONCAT('[', REPEAT('0,', ${count - 1}), '0]'), '$[*]' COLUMNS (n FOR ORDINALITY)) numbers`;

/** SQL for the id of a copy: the row's own, with the number of the copy at its end. */
export const idOfCopy = "UNHEX(CONCAT(LEFT(HEX(one.id), 24), LPAD(HEX(n), 8, '0')))";

/** Returns the names of the table's columns, without those that MySQL computes from others. */
export async function storedColumns(name: string): Promise<string[]> {
  const found = await query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name = ? AND COALESCE(generation_expression, '') = ''
     ORDER BY ordinal_position`,
    [name],
  );
  return found.map((row) => String(row['name']));
}

/** Inserts `count` copies of this row. `changes` gives the columns that must differ, in SQL where `n` counts from 1. */
export async function copyRow(
  name: string,
  id: Buffer,
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const columns = await storedColumns(name);
  const values = columns.map((column) => changes[column] ?? `one.${column}`);
  await query(
    `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${name} one, ${numbers(count)} WHERE one.id = ?`,
    [id],
  );
}
