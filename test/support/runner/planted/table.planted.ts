import { expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { useDatabase } from '../../database/database.ts';

useDatabase();

test('leaves a table with rows', async () => {
  await query('CREATE TABLE planted (id INT PRIMARY KEY)');
  await query('INSERT INTO planted VALUES (1)');
  expect(await query('SELECT id FROM planted')).toEqual([{ id: 1 }]);
});
