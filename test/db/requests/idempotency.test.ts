import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { isLockWait, outsideTransaction, query, transaction } from '../../../shared/db/client.ts';
import { deleteExpiredRecords } from '../../../shared/db/requests/idempotency.system.ts';
import * as db from '../../../shared/db/requests/idempotency.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits, withoutWaiting } from '../../support/database/lock-wait.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const hourMs = 3_600_000;
const later = () => new Date(now().getTime() + hourMs);
const newOwner = () => [newId('workspace', now()), newId('key', now())] as const;
const fingerprint = randomBytes(32);

/** Does the work while another transaction has taken the key and not committed. */
async function besideHolder(
  owner: readonly [string, string],
  key: string,
  work: () => Promise<void>,
): Promise<void> {
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const holder = transaction(async () => {
    await db.insertRecord(...owner, key, { fingerprint, expiresAt: later() });
    taken.resolve();
    await over.promise;
  });
  await taken.promise;
  try {
    await work();
  } finally {
    over.resolve();
    await holder;
  }
}

/** Fills the table with `count` records of other keys. */
async function fill(count: number, expiresAt = later()): Promise<void> {
  await query('TRUNCATE TABLE idempotency_records');
  const [workspaceId, lineageId] = newOwner();
  for (let made = 0; made < count; made += 1)
    await db.insertRecord(workspaceId, lineageId, `other ${made}`, { fingerprint, expiresAt });
}

test.each([0, 1, 4, 30])(
  'with %i records beside it, a key that is held is seen at once, and no other key waits for it',
  async (count) => {
    await fill(count);
    const owner = newOwner();
    await besideHolder(owner, 'held', async () => {
      await withoutWaiting(async () => {
        expect(await db.findRecord(...owner, 'held', now())).toBe('locked');
        expect(await db.findRecord(...owner, 'free', now())).toBeNull();
        await transaction(async () => {
          const expiresAt = later();
          expect(await db.insertRecord(...owner, 'free', { fingerprint, expiresAt })).toBe('inserted');
          await db.updateAnswer(...owner, 'free', Buffer.from('answer'));
        });
        expect(await db.findRecord(...owner, 'free', now())).toEqual({
          fingerprint,
          answer: Buffer.from('answer'),
        });
        await db.updateAnswer(...owner, 'free', Buffer.from('another'));
        expect(await db.deleteExpiredRecord(...owner, 'free', now())).toBe(false);
        expect(await db.deleteExpiredRecord(...owner, 'free', new Date(now().getTime() + 2 * hourMs))).toBe(
          true,
        );
      });
    });
  },
);

test.each([0, 1, 4, 30])(
  'purging %i expired records does not wait for the request that holds the next one',
  async (count) => {
    await fill(count, new Date(now().getTime() - 1));
    const owner = newOwner();
    await besideHolder(owner, 'held', async () => {
      expect(await withoutWaiting(() => deleteExpiredRecords(now(), 2_000))).toBe(count);
    });
    expect(await db.findRecord(...owner, 'held', now())).toMatchObject({ fingerprint });
  },
);

test('a purge takes no more than its batch, the oldest first, and nothing that is still kept', async () => {
  await query('TRUNCATE TABLE idempotency_records');
  const owner = newOwner();
  const time = now().getTime();
  for (const [key, ms] of Object.entries({ third: -1, first: -3, kept: hourMs, second: -2 }))
    await db.insertRecord(...owner, key, { fingerprint, expiresAt: new Date(time + ms) });
  const keys = async () =>
    (
      await query<{ idempotency_key: Buffer }[]>(
        'SELECT idempotency_key FROM idempotency_records ORDER BY expires_at',
      )
    ).map((row) => row['idempotency_key'].toString());
  expect(await deleteExpiredRecords(new Date(time), 2)).toBe(2);
  expect(await keys()).toEqual(['third', 'kept']);
  expect(await deleteExpiredRecords(new Date(time), 2)).toBe(1);
  expect(await deleteExpiredRecords(new Date(time), 2)).toBe(0);
  expect(await keys()).toEqual(['kept']);
});

test('who comes while another has the key gets it when the other rolls back, and not when it commits', async () => {
  const owner = newOwner();
  for (const [key, commits] of [
    ['committed', true],
    ['rolled back', false],
  ] as const) {
    const taken = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const holder = transaction(async () => {
      await db.insertRecord(...owner, key, { fingerprint, expiresAt: later() });
      taken.resolve();
      await over.promise;
      if (!commits) throw new Error('no');
    }).catch(() => undefined);
    await taken.promise;
    const second = transaction(() => db.insertRecord(...owner, key, { fingerprint, expiresAt: later() }));
    over.resolve();
    await holder;
    expect(await second).toBe(commits ? 'taken' : 'inserted');
  }
});

test('of several that wait for a key when it is given up, one gets it, deadlocks and all', async () => {
  const owner = newOwner();
  const record = { fingerprint, expiresAt: later() };
  const waits = await watchLockWaits();
  onTestFinished(waits.close);
  for (let round = 0; round < 5; round += 1) {
    const key = `round ${round}`;
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const holder = transaction(async () => {
      await db.insertRecord(...owner, key, record);
      take();
      await over;
      throw new Error('no');
    }).catch(() => undefined);
    await taken;
    // Each waits for a shared lock on the record and then for an exclusive one: InnoDB ends all but one by a deadlock.
    const waiters = Array.from({ length: 4 }, () =>
      transaction(() => db.insertRecord(...owner, key, record)),
    );
    await waitFor('all of them wait', async () => (await waits.look()).length === waiters.length);
    end();
    await holder;
    expect((await Promise.all(waiters)).toSorted()).toEqual(['inserted', 'taken', 'taken', 'taken']);
  }
});

test('who waits too long for a key is told so, and keeps its transaction', async () => {
  const owner = newOwner();
  await besideHolder(owner, 'held', async () => {
    await transaction(async () => {
      await query('SET SESSION innodb_lock_wait_timeout = 1');
      try {
        const outcome = await db.insertRecord(...owner, 'held', { fingerprint, expiresAt: later() });
        expect(outcome).toBe('locked');
        expect(await db.insertRecord(...owner, 'own', { fingerprint, expiresAt: later() })).toBe('inserted');
      } finally {
        await query('SET SESSION innodb_lock_wait_timeout = 5');
      }
    });
  });
  expect(await db.findRecord(...owner, 'own', now())).not.toBeNull();
});

test('readers of one answer do not keep each other from it', async () => {
  const owner = newOwner();
  await db.insertRecord(...owner, 'shared', { fingerprint, expiresAt: later() });
  await transaction(async () => {
    await query('SELECT 1 FROM idempotency_records WHERE idempotency_key = ? FOR UPDATE', [
      Buffer.from('shared'),
    ]);
    const found = await withoutWaiting(() =>
      outsideTransaction(() => db.findRecord(...owner, 'shared', now())),
    );
    expect(found).toMatchObject({ fingerprint });
  });
});

test('what MySQL and MariaDB say when NOWAIT meets a lock is known, in a transaction and outside', async () => {
  const say = (number: number) => query(`SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}`);
  for (const work of [say, (number: number) => transaction(() => say(number))]) {
    const error = await work(3572).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(isLockWait(error)).toBe(true);
  }
  expect(isLockWait(await say(1205).catch((thrown: unknown) => thrown))).toBe(true);
  for (const number of [1062, 1213, 3571])
    expect(isLockWait(await say(number).catch((thrown: unknown) => thrown))).toBe(false);
});

test('keys differ by every byte, and by their owner', async () => {
  const owner = newOwner();
  const keys = ['key', 'KEY', 'Key', 'key.', 'ke', `key${'.'.repeat(252)}`, '"key"', '\\key', "key'"];
  for (const key of keys)
    expect(await db.insertRecord(...owner, key, { fingerprint: randomBytes(32), expiresAt: later() })).toBe(
      'inserted',
    );
  const [workspaceId, lineageId] = newOwner();
  expect(await db.findRecord(workspaceId, owner[1], 'key', now())).toBeNull();
  expect(await db.findRecord(owner[0], lineageId, 'key', now())).toBeNull();
  expect(await db.insertRecord(...owner, 'key', { fingerprint, expiresAt: later() })).toBe('taken');
});

test('an answer of 10 MiB is kept whole', async () => {
  const owner = newOwner();
  const answer = randomBytes(10 * 1024 * 1024);
  await db.insertRecord(...owner, 'large', { fingerprint, expiresAt: later() });
  await db.updateAnswer(...owner, 'large', answer);
  const record = await db.findRecord(...owner, 'large', now());
  if (record === null || record === 'locked') throw new Error('it is not there');
  expect(record.answer!.equals(answer)).toBe(true);
});
