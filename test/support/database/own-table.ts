import { query } from '../../../shared/db/client.ts';
import { atEnd } from '../runner/at-end.ts';

/** Creates a table beside those of the platform, and drops it when the test file has ended. */
export async function makeTable(name: string, definition: string): Promise<void> {
  await query(`CREATE TABLE \`${name}\` (${definition}) ENGINE=InnoDB`);
  atEnd(() => query(`DROP TABLE \`${name}\``));
}
