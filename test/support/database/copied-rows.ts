import { query } from '../../../shared/db/client.ts';

/**
 * Numbers from 1 on, as a table. Not out of information_schema: where other files make their tables at that moment, the
 * server passes over some and says so, which a strict INSERT takes for an error.
 */
export const numbers = (count: number): string =>
  `JSON_TABLE(CONCAT('[', REPEAT('0,', ${count - 1}), '0]'), '$[*]' COLUMNS (n FOR ORDINALITY)) numbers`;

/** So many rows like this one; what must differ is given by column, in SQL, where `n` counts from 1. */
export async function copyRow(
  name: string,
  id: Buffer,
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const found = await query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`,
    [name],
  );
  const columns = found.map((row) => String(row['name']));
  const values = columns.map((column) => changes[column] ?? `one.${column}`);
  await query(
    `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${name} one, ${numbers(count)} WHERE one.id = ?`,
    [id],
  );
}
