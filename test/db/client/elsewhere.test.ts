import { beforeAll, beforeEach, expect, test } from 'vitest';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import {
  closeDatabase,
  execute,
  insertNew,
  outsideTransaction,
  query,
  transaction,
} from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';
import { makeTable } from '../../support/database/own-table.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const say = (number: number) => `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}`;

// A trigger makes the server refuse the writes of these connections, as a former primary does.
beforeAll(async () => {
  await makeTable('misled', 'connection BIGINT PRIMARY KEY, number INT NOT NULL');
  await makeTable('things', 'id INT PRIMARY KEY');
  await query(
    `CREATE TRIGGER refuse BEFORE INSERT ON things FOR EACH ROW
     BEGIN
       DECLARE number INT DEFAULT (SELECT m.number FROM misled m WHERE m.connection = CONNECTION_ID());
       IF number IS NOT NULL THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = number; END IF;
     END`,
  );
});
beforeEach(async () => {
  await query('DELETE FROM things');
  await query('DELETE FROM misled');
  // A new pool is not replaced for a second, so each test begins without one.
  await closeDatabase();
});

const size = 5;
/** Opens `size` connections at once and returns their ids; repeats if a busy machine used one of them twice. */
function connections(): Promise<number[]> {
  return waitFor('each has another one', async () => {
    const rows = await Promise.all(
      Array.from({ length: size }, () => query('SELECT CONNECTION_ID() AS id, SLEEP(0.1)')),
    );
    const ids = rows.map(([row]) => row!['id'] as number);
    return new Set(ids).size === size && ids;
  });
}

/** Marks all connections of the pool, so that their writes are refused from now on; returns their ids. */
async function mislead(number: number): Promise<number[]> {
  await connections();
  // The connection on which the clock is read may have been in use, so the server lists all of them.
  const open = await query(`SELECT id FROM ${processlist} WHERE db = DATABASE()`);
  const ids = open.map((row) => Number(row['id']));
  await query('REPLACE INTO misled VALUES ?', [ids.map((id) => [id, number])]);
  return ids;
}

const ids = async () => (await query('SELECT id FROM things ORDER BY id')).map((row) => row['id'] as number);
const unavailable = {
  code: 'service_unavailable',
  options: { retryAfterSeconds: expect.any(Number), detail: 'The database is not available at the moment.' },
};

// Shows F39
test.each([1047, 1290, 1792, 1836, 3100, 1180])(
  'a connection that answers %i serves nobody after that, nor do those that were idle beside it',
  async (number) => {
    const before = await connections();
    await expect(query(say(number))).rejects.toMatchObject(unavailable);
    const after = await connections();
    expect(before.filter((id) => after.includes(id))).toEqual([]);
  },
);

test.each([1213, 1205, 3101, 1062])('a connection that answers %i stays open', async (number) => {
  const before = await connections();
  await expect(query(say(number))).rejects.toThrow();
  const open = await query(`SELECT id FROM ${processlist} WHERE id IN (?)`, [before]);
  expect(open).toHaveLength(size);
});

test('where new connections are refused too, the pool is made anew once a second, and not for each of them', async () => {
  const rounds = 10;
  const seen = new Set(await connections());
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    await expect(query(say(1290))).rejects.toMatchObject(unavailable);
    for (const id of await connections()) seen.add(id);
  }
  const renewed = 1 + Math.floor((performance.now() - startedAt) / 1_000);
  // The bound adds the first connections, the refused ones, and one pool for each second.
  expect(seen.size).toBeLessThanOrEqual(size + rounds + size * renewed);
});

const writes: Record<string, (id: number) => Promise<unknown>> = {
  'a statement': (id) => query('INSERT INTO things VALUES (?)', [id]),
  'a prepared statement': (id) => execute('INSERT INTO things VALUES (?)', [id]),
  'a row whose commit is shared': (id) => transaction(() => insertNew('things (id)', [id])),
  'a transaction': (id) =>
    transaction(async () => {
      await query('SELECT 1');
      await insertNew('things (id)', [id]);
    }),
};
// Shows F39
test.each(
  Object.keys(writes).flatMap((name) => [1047, 1290, 1792, 1836].map((number) => [name, number] as const)),
)(
  '%s that is refused with %i is done by way of a new connection, and its caller hears nothing',
  async (name, number) => {
    const misled = await mislead(number);
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(numbers.map((id) => writes[name]!(id)));
    expect(await ids()).toEqual(numbers);
    const after = await connections();
    expect(misled.filter((id) => after.includes(id))).toEqual([]);
  },
);

test('work that new connections refuse too is told so after the second of them, and leaves nothing', async () => {
  await connections();
  let attempts = 0;
  const work = transaction(async () => {
    attempts += 1;
    await query('INSERT INTO things VALUES (1)');
    await query(say(1047));
  });
  await expect(work).rejects.toMatchObject(unavailable);
  expect(attempts).toBe(2);
  expect(await ids()).toEqual([]);
});

test.each([3100, 1180])('work that may be committed, as %i leaves it, is not done again', async (number) => {
  await connections();
  let attempts = 0;
  const work = transaction(async () => {
    attempts += 1;
    await query('INSERT INTO things VALUES (1)');
    await query(say(number));
  });
  await expect(work).rejects.toMatchObject(unavailable);
  expect(attempts).toBe(1);
});

test('a transaction that a group has taken back at its commit, for another’s, is tried again like a deadlock', async () => {
  let attempts = 0;
  await transaction(async () => {
    attempts += 1;
    await query('INSERT INTO things VALUES (1)');
    expect(await outsideTransaction(ids)).toEqual([]);
    if (attempts < 3) await query(say(3101));
  });
  expect(attempts).toBe(3);
  expect(await ids()).toEqual([1]);
});
