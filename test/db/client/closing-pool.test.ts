import { expect, test } from 'vitest';
import { closeDatabase, query } from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

test('who waits for a connection while the pool closes is told that the database is not there', async () => {
  await closeDatabase();
  const waiting = query('SELECT 1');
  // The connection is still being made, and no caller will get it.
  const closed = closeDatabase();
  await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
  await closed;
  expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
