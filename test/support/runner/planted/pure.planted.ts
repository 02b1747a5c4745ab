import { expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';

test('asks the database without useDatabase, as only a file in the wrong project does', async () => {
  const [row] = await query('SELECT 1 AS one FROM information_schema.schemata LIMIT 1').catch(() => [
    { one: 1 },
  ]);
  expect(row).toEqual({ one: 1 });
});
