import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import {
  beforeFirstStatement,
  inShareOf,
  insertNew,
  isDuplicateKey,
  onOneConnection,
  outsideTransaction,
  query,
  transaction,
} from '../../../shared/db/client.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { useDatabase } from '../../support/database/database.ts';
import { withoutWaiting } from '../../support/database/lock-wait.ts';
import { makeTable } from '../../support/database/own-table.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

beforeAll(async () => {
  await makeTable('things', 'id INT PRIMARY KEY, value VARCHAR(5) NOT NULL');
  await makeTable('parts', 'thing_id INT NOT NULL, value LONGTEXT NOT NULL');
});
beforeEach(async () => {
  await query('DELETE FROM things');
  await query('DELETE FROM parts');
});

const things = async () =>
  (await query('SELECT id FROM things ORDER BY id')).map((row) => row['id'] as number);
const parts = async () =>
  (await query('SELECT thing_id FROM parts ORDER BY thing_id')).map((row) => row['thing_id'] as number);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Adds a thing and its part; neither statement is sent before the commit. */
const add = (id: number, value = 'new', part = 'part') =>
  transaction(async () => {
    await insertNew('things (id, value)', [id, value], {
      sql: 'SELECT 1 FROM things FORCE INDEX (PRIMARY) WHERE id IN (?) FOR UPDATE NOWAIT',
      key: [id],
    });
    await insertNew('parts (thing_id, value)', [id, part]);
    return id;
  });

test('two hundred at a time are all there, each with its part', async () => {
  const added = await Promise.all(numbers(200).map((id) => add(id)));
  expect(added).toEqual(numbers(200));
  expect(await things()).toEqual(numbers(200));
  expect(await parts()).toEqual(numbers(200));
});

test('only a large one waits for the share of its workspace, and gives it back', async () => {
  const own = newId('workspace', now());
  const share = Math.ceil(config.MYSQL_POOL_SIZE / 2);
  const put = (part: string) =>
    inShareOf(own, () => transaction(() => insertNew('parts (thing_id, value)', [1, part])));
  const large = 'x'.repeat(100_000);
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let holding = 0;
  const hold = async () => {
    holding += 1;
    await over;
  };
  const held = numbers(share).map(() => inShareOf(own, () => onOneConnection(hold)));
  await waitFor('it holds its share', () => holding === share);
  let isStored = false;
  const waiting = put(large).finally(() => (isStored = true));
  await put('small');
  await put('small');
  expect(isStored).toBe(false);
  end();
  await Promise.all([waiting, ...held]);
  for (let count = 0; count < share; count += 1) await put(large);
  expect(await parts()).toHaveLength(share + 3);
});

test('one that the database refuses is refused alone, and leaves nothing behind', async () => {
  const outcomes = await Promise.allSettled(
    numbers(30).map((id) => (id === 7 ? add(id, 'far too long') : add(id))),
  );
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(outcomes[6]).toMatchObject({ status: 'rejected', reason: { errno: 1406 } });
  const others = numbers(30).filter((id) => id !== 7);
  expect(await things()).toEqual(others);
  expect(await parts()).toEqual(others);
});

test('of several with the same key one goes in, and the others hear of it', async () => {
  const outcomes = await Promise.allSettled([add(1), add(2), add(1), add(1)]);
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused).toHaveLength(2);
  for (const { reason } of refused) expect(isDuplicateKey(reason)).toBe(true);
  expect(await things()).toEqual([1, 2]);
  expect(await parts()).toEqual([1, 2]);
});

test('the others of a group do not wait for the key of one that another transaction holds', async () => {
  const [isHeld, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = transaction(async () => {
    await query("INSERT INTO things VALUES (7, 'held')");
    isHeld.resolve();
    await goOn.promise;
  });
  await isHeld.promise;
  const added = numbers(30).map((id) => add(id));
  const outcomes = Promise.allSettled(added);
  await withoutWaiting(() => Promise.all(added.filter((_, index) => index !== 6))).finally(goOn.resolve);
  expect((await outcomes)[6]).toMatchObject({ status: 'rejected', reason: { errno: 1062 } });
  await holder;
  expect(await parts()).toEqual(numbers(30).filter((id) => id !== 7));
});

test('what is held back is there for the next statement of its transaction, and for nobody else', async () => {
  await transaction(async () => {
    await insertNew('things (id, value)', [1, 'new']);
    expect(await things()).toEqual([1]);
    await insertNew('things (id, value)', [2, 'new']);
    expect(await outsideTransaction(things)).toEqual([]);
  });
  expect(await things()).toEqual([1, 2]);
});

test('when the work throws, what was held back is gone', async () => {
  const work = transaction(async () => {
    await insertNew('things (id, value)', [1, 'new']);
    throw new Error('changed my mind');
  });
  await expect(work).rejects.toThrow('changed my mind');
  expect(await things()).toEqual([]);
});

test('a large one goes in too, and outside of a transaction at once', async () => {
  await Promise.all([add(1, 'new', 'x'.repeat(500_000)), add(2)]);
  await insertNew('things (id, value)', [3, 'new']);
  expect(await things()).toEqual([1, 2, 3]);
});

test('what is to run before the first statement does, once, and not where there comes none', async () => {
  let runs = 0;
  const note = async () => {
    runs += 1;
    await query("INSERT INTO things VALUES (100, 'lock')");
  };
  await transaction(async () => {
    await beforeFirstStatement(note);
    await insertNew('things (id, value)', [1, 'new']);
  });
  expect(runs).toBe(0);

  await transaction(async () => {
    await beforeFirstStatement(note);
    await insertNew('things (id, value)', [2, 'new']);
    expect(await things()).toEqual([1, 2, 100]);
    await query('UPDATE things SET value = ?', ['x']);
  });
  expect(runs).toBe(1);
});

test('work whose group commit failed is done again alone, what comes before its first statement first', async () => {
  await add(1);
  const order: string[] = [];
  const work = transaction(async () => {
    order.push('work');
    await beforeFirstStatement(async () => void order.push('before'));
    await insertNew('things (id, value)', [1, 'new']);
  });
  await expect(work).rejects.toMatchObject({ errno: 1062 });
  expect(order).toEqual(['work', 'work', 'before']);
});
