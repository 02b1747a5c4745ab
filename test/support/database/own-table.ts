import { query } from '../../../shared/db/client.ts';
import { atEnd } from '../runner/at-end.ts';

/** A table of the test file beside those of the platform; it is gone when the file has ended. */
export async function makeTable(name: string, definition: string): Promise<void> {
  await query(`CREATE TABLE \`${name}\` (${definition}) ENGINE=InnoDB`);
  atEnd(() => query(`DROP TABLE \`${name}\``));
}
