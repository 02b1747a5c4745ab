import { query } from '../../shared/db/client.ts';

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
    `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${name} one,
       JSON_TABLE(CONCAT('[', REPEAT('0,', ?), '0]'), '$[*]' COLUMNS (n FOR ORDINALITY)) numbers WHERE one.id = ?`,
    [count - 1, id],
  );
}
