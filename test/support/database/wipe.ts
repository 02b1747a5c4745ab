import type mysql from 'mysql2/promise';

/** The content of a new database: how each table is made, and the rows that migrations put there. */
export type Birth = Map<string, { made: string; rows: Row[] }>;
type Row = Record<string, unknown>;

// A table with more rows is truncated: to delete row by row takes seconds, and the leftovers slow the next file.
const manyRows = 5_000;

/** Returns the tables of this database as they are now. The connection must allow several statements at once. */
export async function birthOf(server: mysql.Connection, database: string): Promise<Birth> {
  const birth: Birth = new Map();
  await server.query(`USE \`${database}\``);
  const made = await tablesOf(server);
  const filled = await filledAmong(server, [...made.keys()]);
  for (const [name, statement] of made) {
    const [rows] = filled.has(name) ? await server.query(`SELECT * FROM \`${name}\``) : [[]];
    birth.set(name, { made: statement, rows: rows as Row[] });
  }
  return birth;
}

/**
 * Restores the first content of the database. If a file has left a table or a trigger behind, or has changed a
 * table, `remake` builds the database anew, and then an error is thrown.
 */
export async function wipe(
  server: mysql.Connection,
  database: string,
  birth: Birth,
  remake: () => Promise<void>,
): Promise<void> {
  // If the database is gone, so is every table, and `remake` makes them again for the next files.
  const tables = await server
    .query(`USE \`${database}\``)
    .then(() => tablesOf(server))
    .catch(() => new Map<string, string>());
  const faults: string[] = [];
  for (const name of tables.keys()) if (!birth.has(name)) faults.push(`the table ${name} is left`);
  for (const [name, { made }] of birth)
    if (tables.get(name) !== made) faults.push(`the table ${name} is changed or gone`);
  const [triggers] = tables.size > 0 ? await server.query<mysql.RowDataPacket[]>('SHOW TRIGGERS') : [[]];
  for (const trigger of triggers) faults.push(`the trigger ${trigger['Trigger']} is left`);
  if (faults.length > 0) {
    await remake();
    throw new Error(
      `The file leaves a changed database for the next one in its process: ${faults.join('; ')}`,
    );
  }
  const statements: string[] = [];
  const filled = await filledAmong(server, [...birth.keys()]);
  const large = await filledAmong(server, [...filled], manyRows);
  for (const name of filled) statements.push(`${large.has(name) ? 'TRUNCATE' : 'DELETE FROM'} \`${name}\``);
  for (const [name, { rows }] of birth) {
    const values = rows.map((row) => Object.values(row));
    if (rows[0])
      statements.push(server.format('INSERT INTO ?? (??) VALUES ?', [name, Object.keys(rows[0]), values]));
  }
  if (statements.length > 0) await server.query(statements.join('; '));
}

/** Returns the tables that were empty in the new database and have rows now. */
export async function foreignRows(
  server: mysql.Connection,
  database: string,
  birth: Birth,
): Promise<string[]> {
  await server.query(`USE \`${database}\``);
  const filled = await filledAmong(server, [...birth.keys()]);
  return [...filled].filter((name) => birth.get(name)!.rows.length === 0);
}

async function tablesOf(server: mysql.Connection): Promise<Map<string, string>> {
  const [rows] = await server.query<mysql.RowDataPacket[]>('SHOW TABLES');
  const names = rows.map((row) => String(Object.values(row)[0]));
  if (names.length === 0) return new Map();
  const [answers] = await server.query(names.map((name) => `SHOW CREATE TABLE \`${name}\``).join('; '));
  const made = (names.length === 1 ? [answers] : answers) as Row[][];
  return new Map(
    names.map((name, index) => [
      name,
      String(made[index]![0]!['Create Table']).replace(/ AUTO_INCREMENT=\d+/, ''),
    ]),
  );
}

/** Returns the tables, of these, that have more than `moreThan` rows. */
async function filledAmong(server: mysql.Connection, names: string[], moreThan = 0): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const questions = names.map((name) => `(SELECT '${name}' AS name FROM \`${name}\` LIMIT ${moreThan}, 1)`);
  const [rows] = await server.query<(mysql.RowDataPacket & { name: string })[]>(
    questions.join(' UNION ALL '),
  );
  return new Set(rows.map(({ name }) => name));
}
