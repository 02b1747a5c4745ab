import { expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { useDatabase } from '../../database/database.ts';

useDatabase();

test('leaves a table changed', async () => {
  await query('ALTER TABLE emails ADD COLUMN planted INT NULL');
  expect(await query('SELECT planted FROM emails')).toEqual([]);
});
