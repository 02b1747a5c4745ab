import { beforeAll, beforeEach, expect, test } from 'vitest';
import {
  beforeCommit,
  beforeFirstStatement,
  insertNew,
  query,
  transaction,
} from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';
import { makeTable } from '../../support/database/own-table.ts';

useDatabase();

beforeAll(async () => {
  await makeTable('things', 'id INT PRIMARY KEY, value VARCHAR(5) NOT NULL');
});
beforeEach(async () => {
  await query('DELETE FROM things');
  await query("INSERT INTO things VALUES (1, 'one'), (2, 'two')");
});

const add = (id: number) => query("INSERT INTO things VALUES (?, 'new')", [id]);
const ids = async () => (await query('SELECT id FROM things ORDER BY id')).map((row) => row['id'] as number);

test('an action before the commit comes after all else, and its fault leaves nothing', async () => {
  const order: string[] = [];
  const work = (fault?: Error) =>
    transaction(async () => {
      await beforeCommit(async () => {
        order.push('last');
        expect(await ids()).toEqual([1, 2, 3]);
        await add(4);
        if (fault) throw fault;
      });
      await insertNew('things (id, value)', [3, 'held']);
      order.push('work');
    });
  const fault = new Error('no room');
  await expect(work(fault)).rejects.toBe(fault);
  expect(await ids()).toEqual([1, 2]);
  await work();
  expect(await ids()).toEqual([1, 2, 3, 4]);
  expect(order).toEqual(['work', 'last', 'work', 'last']);
});

test('what comes before the first statement is done by the time an action before the commit is taken', async () => {
  const order: string[] = [];
  await transaction(async () => {
    await beforeFirstStatement(async () => {
      order.push('first');
    });
    await insertNew('things (id, value)', [3, 'held']);
    await beforeCommit(async () => void order.push('last'));
    order.push('work');
  });
  expect(order).toEqual(['first', 'work', 'last']);
  expect(await ids()).toEqual([1, 2, 3]);
});
