import { beforeAll, expect, test } from 'vitest';
import { query, transaction } from '../../../shared/db/client.ts';
import { waitFor } from '../time/wait-for.ts';
import { useDatabase } from './database.ts';
import { watchLockWaits, withoutWaiting } from './lock-wait.ts';
import { makeTable } from './own-table.ts';

useDatabase();
beforeAll(async () => {
  await makeTable('things', 'id INT PRIMARY KEY');
  await query('INSERT INTO things VALUES (1), (2)');
});

const lock = (id: number) => query('SELECT id FROM things WHERE id = ? FOR UPDATE', [id]);

/** Does the work while another transaction holds the lock of the first row. */
async function beside(work: () => Promise<void>): Promise<void> {
  const { promise: locked, resolve: lockIt } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const holder = transaction(async () => {
    await lock(1);
    lockIt();
    await over;
  });
  await locked;
  await work().finally(end);
  await holder;
}

test('work that waits for a lock fails, and work beside it does not', () =>
  beside(async () => {
    expect(await withoutWaiting(() => lock(2))).toEqual([{ id: 2 }]);
    await expect(withoutWaiting(() => lock(1))).rejects.toThrow();
  }));

test('each that waits is seen, until it has the lock', async () => {
  const waits = await watchLockWaits();
  let waiters: Promise<unknown>[] = [];
  await beside(async () => {
    expect(await waits.look()).toEqual([]);
    waiters = [lock(1), lock(1)];
    await waitFor('both are seen', async () => (await waits.look()).length === 2);
  });
  await Promise.all(waiters);
  expect(await waits.look()).toEqual([]);
  await waits.close();
});
