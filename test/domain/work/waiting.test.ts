import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { listWorkspacesToRecount } from '../../../shared/db/work/waiting-counts.system.ts';
import { changeWaiting, findWaiting } from '../../../shared/db/work/waiting-counts.ts';
import * as waiting from '../../../shared/domain/work/waiting.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { acceptMany } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { countedRows } from '../../support/database/waiting.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

beforeEach(() => changeSettings({ MAX_STORED_MB: 2_000, MAX_WAITING_ROWS: 5_000_000 }));

const hourMs = 3_600_000;
const shardsOf = (workspaceId: string) =>
  query('SELECT shard, messages, recounts FROM waiting_counts WHERE workspace_id = ? ORDER BY shard', [
    idToBytes(workspaceId),
  ]);

test('what transactions of a workspace add at once goes to different rows, and adds up', async () => {
  const { workspaceId } = await workspace();
  await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      transaction(async () => {
        await query('SELECT 1');
        await changeWaiting(workspaceId, { messages: index % 4 === 0 ? -1 : 1, bytes: index });
      }),
    ),
  );
  expect(await findWaiting(workspaceId)).toEqual({ messages: 100, bytes: (199 * 200) / 2 });
  expect((await shardsOf(workspaceId)).length).toBeGreaterThan(5);
});

test('what a transaction that fails would have changed is not counted', async () => {
  const { workspaceId } = await workspace();
  const work = transaction(async () => {
    await changeWaiting(workspaceId, { messages: 1 });
    throw new Error('changed my mind');
  });
  await expect(work).rejects.toThrow('changed my mind');
  expect(await findWaiting(workspaceId)).toEqual({ messages: 0, bytes: 0 });
});

test('workspaces of which many change at once wait for each other in one order, and none is given up', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, async () => (await workspace()).workspaceId));
  await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      transaction(async () => {
        await query('SELECT 1');
        // An acceptance changes its own workspace and at times checks the exact total; workers change many workspaces.
        const [own] = all.slice(index % all.length);
        const order = index % 2 === 0 ? all : all.toReversed();
        for (const workspaceId of index % 5 === 0 ? [own!] : order)
          await changeWaiting(workspaceId, { messages: 1 });
        if (index % 5 === 0) await waiting.checkAtCommit(own!, { messages: 1, bytes: 2_000_000 });
      }),
    ),
  );
  for (const workspaceId of all) expect((await findWaiting(workspaceId)).messages).toBe(96 + 4);
});

test('a recount puts right what is wrong, also while emails are accepted, and once if two do it', async () => {
  const own = await workspace();
  await acceptMany(own, 20);
  await changeWaiting(own.workspaceId, { messages: 1_000, bytes: -77 });
  const [recounted] = await Promise.all([
    Promise.all([waiting.recountDue(), waiting.recountDue(), waiting.recountDue()]),
    acceptMany(own, 200),
  ]);
  expect(recounted.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(1);
  const [first] = await shardsOf(own.workspaceId);
  // A second recount does not change the numbers that the first one corrected.
  expect(first).toMatchObject({ shard: 0, messages: -1_000 });
  expect(await findWaiting(own.workspaceId)).toEqual(await countedRows(own.workspaceId));
  expect((await findWaiting(own.workspaceId)).messages).toBe(220);
});

test('each workspace is recounted once an hour', async () => {
  const { workspaceId } = await workspace();
  const recounts = async () => Number((await shardsOf(workspaceId))[0]?.['recounts'] ?? 0);
  await waiting.recountDue();
  await waiting.recountDue();
  expect(await recounts()).toBe(1);
  await advanceClock(hourMs + 1_000);
  await waiting.recountDue();
  expect(await recounts()).toBe(2);
});

test('a workspace whose failed recount cannot be noted holds up no other', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, async () => (await workspace()).workspaceId));
  await waiting.recountDue();
  await advanceClock(hourMs + 1_000);
  const [first] = await listWorkspacesToRecount(now(), 1);
  await query(`CREATE TRIGGER refuse_recount BEFORE UPDATE ON waiting_counts FOR EACH ROW
    IF NEW.workspace_id = X'${idToBytes(first!).toString('hex')}' THEN SIGNAL SQLSTATE '45000'; END IF`);
  try {
    await expect(waiting.recountDue()).rejects.toThrow();
  } finally {
    await query('DROP TRIGGER refuse_recount');
  }
  const recounts = await Promise.all(
    ids.filter((id) => id !== first).map(async (id) => (await shardsOf(id))[0]!['recounts']),
  );
  expect(recounts.map(Number)).toEqual(recounts.map(() => 2));
});

test('a workspace that cannot be recounted holds up no other, and is not the first again', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, async () => (await workspace()).workspaceId));
  const recounts = () =>
    Promise.all(ids.map(async (id) => Number((await shardsOf(id))[0]?.['recounts'] ?? 0)));
  await query(`CREATE TRIGGER refuse_recount BEFORE UPDATE ON waiting_counts FOR EACH ROW
    IF NEW.workspace_id = X'${idToBytes(ids[1]!).toString('hex')}' AND NEW.recounts <> OLD.recounts
      THEN SIGNAL SQLSTATE '45000'; END IF`);
  try {
    await expect(waiting.recountDue()).rejects.toThrow();
    expect(await recounts()).toEqual([1, 0, 1]);
    expect(await waiting.recountDue()).toBe(0);
  } finally {
    await query('DROP TRIGGER refuse_recount');
  }
  await advanceClock(hourMs + 1_000);
  await waiting.recountDue();
  expect(await recounts()).toEqual([2, 1, 2]);
});

test('nobody is refused for long because of a count that is wrong', async () => {
  changeSettings({ MAX_WAITING_ROWS: 10 });
  const own = await workspace();
  await changeWaiting(own.workspaceId, { messages: 1_000_000 });
  await expect(acceptEmail(own)).rejects.toMatchObject({ code: 'limit_exceeded' });
  await waitFor('the count is right', async () => (await findWaiting(own.workspaceId)).messages === 0);
  await acceptEmail(own);
});

test('a recount reads the indexes alone, of the workspace alone', async () => {
  const own = await workspace();
  const id = idToBytes(own.workspaceId);
  for (const [statement, key] of [
    [
      "SELECT COUNT(*), SUM(stored_bytes) FROM emails FORCE INDEX (emails_by_status) WHERE workspace_id = ? AND status = 'queued'",
      'emails_by_status',
    ],
    [
      "SELECT COUNT(*) FROM sms_messages FORCE INDEX (sms_by_status) WHERE status IN ('queued', 'held') AND workspace_id = ?",
      'sms_by_status',
    ],
  ] as const) {
    const [plan] = await query(`EXPLAIN FORMAT=TRADITIONAL ${statement}`, [id]);
    expect(plan).toMatchObject({ key, Extra: expect.stringContaining('Using index') });
  }
});

test('workspaces that have little room left are counted', async () => {
  changeSettings({ MAX_WAITING_ROWS: 100, MAX_STORED_MB: 1 });
  const before = await waiting.findFullCount();
  const [one, other, third] = [await workspace(), await workspace(), await workspace()];
  await changeWaiting(one.workspaceId, { messages: 95 });
  await changeWaiting(other.workspaceId, { bytes: 960_000 });
  await changeWaiting(third.workspaceId, { messages: 94, bytes: 940_000 });
  expect(await waiting.findFullCount()).toBe(before + 2);
});
