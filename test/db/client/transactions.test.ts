import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { Problem } from '../../../shared/common/errors.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import {
  afterCommit,
  beforeFirstStatement,
  closeDatabase,
  execute,
  isDuplicateKey,
  knexTable,
  outsideTransaction,
  query,
  run,
  transaction,
} from '../../../shared/db/client.ts';
import { relayEvents } from '../../../shared/jobs/relay-events.ts';
import { enqueue, queueOf } from '../../../shared/queue/queue.ts';
import { useDatabase } from '../../support/database/database.ts';
import { makeTable } from '../../support/database/own-table.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

beforeAll(async () => {
  await makeTable('things', 'id INT PRIMARY KEY, value VARCHAR(5) NOT NULL');
});
beforeEach(async () => {
  await query('DELETE FROM things');
  await query("INSERT INTO things VALUES (1, 'one'), (2, 'two')");
});

const add = (id: number) => query("INSERT INTO things VALUES (?, 'new')", [id]);
const write = (id: number, value: string) => query('UPDATE things SET value = ? WHERE id = ?', [value, id]);
const ids = async () => (await query('SELECT id FROM things ORDER BY id')).map((row) => row['id'] as number);

test('everything inside commits together, whichever way it is sent', async () => {
  const result = await transaction(async () => {
    await add(3);
    await execute('INSERT INTO things VALUES (?, ?)', [4, 'four']);
    await run(knexTable('things').where('id', 1).update({ value: 'x' }));
    expect(await outsideTransaction(ids)).toEqual([1, 2]);
    return 'result';
  });
  expect(result).toBe('result');
  expect(await ids()).toEqual([1, 2, 3, 4]);
});

test('when the work throws, nothing of it is left, and the error is the caller’s', async () => {
  const error = new Error('changed my mind');
  const work = transaction(async () => {
    await add(3);
    await execute('DELETE FROM things WHERE id = ?', [1]);
    await run(knexTable('things').where('id', 2).update({ value: 'x' }));
    throw error;
  });
  await expect(work).rejects.toBe(error);
  expect(await query('SELECT * FROM things ORDER BY id')).toEqual([
    { id: 1, value: 'one' },
    { id: 2, value: 'two' },
  ]);
});

test('a transaction inside another joins it', async () => {
  const work = transaction(async () => {
    await transaction(() => add(3));
    throw new Error('all or nothing');
  });
  await expect(work).rejects.toThrow('all or nothing');
  expect(await ids()).toEqual([1, 2]);
});

test('what runs at the same time keeps to its own transaction', async () => {
  const works = Array.from({ length: 30 }, (_, index) =>
    transaction(async () => {
      await add(100 + index);
      await sleep(1);
      if (index % 2) throw new Error('odd');
    }).catch(() => undefined),
  );
  await Promise.all(works);
  expect(await ids()).toEqual([1, 2, ...Array.from({ length: 15 }, (_, index) => 100 + 2 * index)]);
});

test('a statement after the end of its transaction is refused', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let stray: Promise<unknown> | undefined;
  await transaction(async () => {
    await add(3);
    stray = ended.then(() => add(4));
  });
  end();
  await expect(stray).rejects.toThrow('after its transaction had ended');
  expect(await ids()).toEqual([1, 2, 3]);
});

test('afterCommit waits for the commit, and never comes after a rollback', async () => {
  const seen: string[] = [];
  await transaction(async () => {
    await add(3);
    afterCommit(() => seen.push('committed'));
    expect(seen).toEqual([]);
  });
  expect(seen).toEqual(['committed']);
  const failing = transaction(async () => {
    afterCommit(() => seen.push('rolled back'));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  afterCommit(() => seen.push('without a transaction'));
  expect(seen).toEqual(['committed', 'without a transaction']);
});

test('an action after the commit that throws takes nothing back, and stops no other', async () => {
  const seen: string[] = [];
  const fail = () => {
    throw new Error('no');
  };
  const result = await transaction(async () => {
    await add(3);
    afterCommit(fail);
    afterCommit(() => seen.push('the next one'));
    return 'accepted';
  });
  expect([result, seen, await ids()]).toEqual(['accepted', ['the next one'], [1, 2, 3]]);
  expect(() => afterCommit(fail)).not.toThrow();
});

test('a job that was enqueued in a transaction which is rolled back is not sent', async () => {
  const wake = (id: string) => enqueue(relayEvents, {}, { lane: 'default', id });
  const failing = transaction(async () => {
    wake('never');
    await add(3);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await transaction(async () => {
    wake('sent');
    await add(4);
    // No job may be made while the transaction is open: a quick worker would not find the row.
    outsideTransaction(() => wake('later'));
    await waitFor('what was enqueued later is there', () => queueOf('relay-events').getJob('later'));
    expect(await queueOf('relay-events').getJob('sent')).toBeUndefined();
  });
  await waitFor('the job is there', () => queueOf('relay-events').getJob('sent'));
  expect(await queueOf('relay-events').getJob('never')).toBeUndefined();
});

test('where the action before the first statement fails, no transaction is left open', async () => {
  const failing = transaction(async () => {
    await beforeFirstStatement(async () => {
      await add(7);
      throw new Error('no');
    });
    await add(8);
  });
  await expect(failing).rejects.toThrow('no');
  // MySQL refuses this statement while another connection runs one with the bytes of an id.
  const open = await waitFor('the transactions', () =>
    query(
      `SELECT trx_id FROM information_schema.innodb_trx JOIN ${processlist} p
       ON p.id = trx_mysql_thread_id WHERE p.db = DATABASE()`,
    ),
  );
  expect(open).toEqual([]);
  expect(await query('SELECT id FROM things WHERE id IN (7, 8)')).toEqual([]);
});

/** Two transactions that lock the two rows in opposite order, so that the server ends one of them. */
async function deadlock(): Promise<{ attempts: number; actions: string[] }> {
  const reached = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const actions: string[] = [];
  let attempts = 0;
  const cross = (own: 0 | 1) =>
    transaction(async () => {
      attempts += 1;
      afterCommit(() => actions.push(`work ${own}`));
      await write(own + 1, `w${own}`);
      reached[own]!.resolve();
      await reached[1 - own]!.promise;
      await write(2 - own, `w${own}`);
    });
  await Promise.all([cross(0), cross(1)]);
  return { attempts, actions };
}

test('a deadlock is tried again: both transactions are done, each with its after-work once', async () => {
  const { attempts, actions } = await deadlock();
  expect(attempts).toBeGreaterThanOrEqual(3);
  expect(actions.toSorted()).toEqual(['work 0', 'work 1']);
  const values = (await query('SELECT value FROM things ORDER BY id')).map((row) => row['value']);
  expect(new Set(values).size).toBe(1);
});

test('who waits too long for a lock is tried again three times, then told to come back', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const holder = transaction(async () => {
    await write(1, 'held');
    lock();
    await released;
  });
  await locked;
  let attempts = 0;
  const alone = expect(write(1, 'alone')).rejects.toMatchObject({ code: 'service_unavailable' });
  const waiter = transaction(async () => {
    attempts += 1;
    await query('SET SESSION innodb_lock_wait_timeout = 1');
    await write(1, 'mine');
  });
  await expect(waiter).rejects.toMatchObject({
    code: 'service_unavailable',
    options: { retryAfterSeconds: expect.any(Number) },
  });
  expect(attempts).toBe(4);
  // A statement without a transaction is not tried again, and gets the same error.
  await alone;
  release();
  await holder;
});

test('an error of the work’s own is not tried again', async () => {
  let attempts = 0;
  const work = transaction(async () => {
    attempts += 1;
    await add(1);
  });
  const error = await work.catch((thrown: unknown) => thrown);
  expect(isDuplicateKey(error)).toBe(true);
  expect(error).not.toBeInstanceOf(Problem);
  expect(attempts).toBe(1);
});

test('what does not fit is an error, never cut', async () => {
  await expect(query("INSERT INTO things VALUES (9, 'too long')")).rejects.toMatchObject({ errno: 1406 });
  await expect(query('INSERT INTO things (id) VALUES (9)')).rejects.toMatchObject({ errno: 1364 });
});

test('every connection is set up the same, whatever the server’s defaults', async () => {
  const seen = await Promise.all(
    Array.from({ length: 10 }, () =>
      transaction(async () => {
        const [row] = await query<{ mode: string }[]>(
          `SELECT @@session.time_zone AS zone, @@session.sql_mode AS mode,
            @@session.innodb_lock_wait_timeout AS wait, @@session.character_set_connection AS charset`,
        );
        return JSON.stringify({ ...row, mode: row!['mode'].includes('STRICT_ALL_TABLES') });
      }),
    ),
  );
  const [only, ...more] = new Set(seen.map((text) => text.replace('"wait":1,', '"wait":5,')));
  expect(more).toEqual([]);
  expect(JSON.parse(only!)).toEqual({ zone: '+00:00', mode: true, wait: 5, charset: 'utf8mb4' });
});

test('what another transaction commits is seen by the next statement', async () => {
  await transaction(async () => {
    expect(await ids()).toEqual([1, 2]);
    await outsideTransaction(() => add(3));
    expect(await ids()).toEqual([1, 2, 3]);
  });
});

test('failed transactions give their connections back', async () => {
  for (let round = 0; round < 5; round += 1)
    await Promise.all(
      Array.from({ length: 40 }, () =>
        transaction(async () => {
          await query('SELECT 1');
          throw new Error('no');
        }).catch(() => undefined),
      ),
    );
  expect(await ids()).toEqual([1, 2]);
});

test('closing lets the statements in progress come to their end, and then ends itself', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const work = transaction(async () => {
    await add(3);
    begin();
    await query('SELECT SLEEP(0.3)');
    await add(4);
    return 'done';
  });
  await begun;
  await closeDatabase();
  expect(await work).toBe('done');
  expect(await ids()).toEqual([1, 2, 3, 4]);
});
