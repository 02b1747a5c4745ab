import { beforeAll, beforeEach, expect, test } from 'vitest';
import { databaseTime, now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idFromBytes, idToBytes, newId } from '../../../shared/formats/ids.ts';
import { sendSms as sendSmsJob } from '../../../shared/jobs/send-sms.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let template: string;
beforeAll(async () => {
  const { id } = await acceptEmail(await workspace());
  await waitFor('its job is in Redis', () => queueOf('send-email').getJob(`${id}-1`));
  template = id;
});
beforeEach(async () => {
  await query('DELETE FROM emails WHERE id <> ?', [idToBytes(template)]);
  await query("UPDATE emails SET status = 'cancelled' WHERE id = ?", [idToBytes(template)]);
  await forgetRedis();
});

type Row = { dueAt: Date; parked?: boolean; claims?: number };

/** Copies waiting emails inside the database, so that Redis has no job for them; returns their ids. */
async function waiting(rows: Row[]): Promise<string[]> {
  const ids = rows.map(() => newId('email', now()));
  const columns = (await query('SHOW COLUMNS FROM emails')).map((column) => column['Field'] as string);
  const values = columns.map((name) =>
    name === 'id'
      ? 'UNHEX(x.id)'
      : name === 'status'
        ? "'queued'"
        : ['due_at', 'parked', 'claims'].includes(name)
          ? `x.${name}`
          : `e.${name}`,
  );
  const list = rows.map((row, index) => ({
    id: idToBytes(ids[index]!).toString('hex'),
    due_at: row.dueAt.toISOString().replace('T', ' ').slice(0, 23),
    parked: row.parked ? 1 : 0,
    claims: row.claims ?? 0,
  }));
  await query(
    `INSERT INTO emails (${columns.join(', ')}) SELECT ${values.join(', ')} FROM JSON_TABLE(?, '$[*]' COLUMNS (
       id CHAR(32) PATH '$.id', due_at DATETIME(3) PATH '$.due_at', parked TINYINT PATH '$.parked',
       claims INT PATH '$.claims')) AS x JOIN emails e ON e.id = ?`,
    [JSON.stringify(list), idToBytes(template)],
  );
  return ids;
}

const ago = (ms: number) => new Date(now().getTime() - ms);
async function jobIds(): Promise<string[]> {
  const jobs = await queueOf('send-email').getJobs(['waiting', 'prioritized', 'delayed'], 0, -1, true);
  return jobs.map(({ id }) => id as string);
}

test('what has waited longest is taken first, and no more than a batch at a time', async () => {
  const ids = await waiting(Array.from({ length: 520 }, (_, index) => ({ dueAt: ago(30_000 - index) })));
  await recovery.sweep();
  expect((await jobIds()).toSorted()).toEqual(ids.slice(0, 500).map((id) => `${id}-1`));
  // As the first emails are done, the rest follows.
  await query('DELETE FROM emails WHERE id IN (?)', [ids.slice(0, 100).map(idToBytes)]);
  await recovery.sweep();
  expect((await jobIds()).toSorted()).toEqual(ids.map((id) => `${id}-1`));
});

test('a job is named after the claim that it leads to, without a colon', async () => {
  const [fresh, claimed] = await waiting([{ dueAt: ago(5_000) }, { dueAt: ago(5_000), claims: 4 }]);
  await recovery.sweep();
  expect((await jobIds()).toSorted()).toEqual([`${fresh}-1`, `${claimed}-5`]);
  for (const id of await jobIds()) expect(id).not.toContain(':');
});

test('a row that its job does not reach gets another job in a minute, and then ever more seldom', async () => {
  const [id] = await waiting([{ dueAt: ago(5_000) }]);
  await recovery.sweep();
  const overdue = async (ms: number) => {
    await query('UPDATE emails SET due_at = ? WHERE id = ?', [ago(ms), idToBytes(id!)]);
    await recovery.sweep();
    await recovery.sweep();
    return (await jobIds()).length;
  };
  expect(await overdue(30_000)).toBe(1);
  expect(await overdue(65_000)).toBe(2);
  expect(await overdue(90_000)).toBe(2);
  expect(await overdue(125_000)).toBe(3);
  expect(await overdue(230_000)).toBe(3);
  expect(await overdue(245_000)).toBe(4);
  expect(await overdue(48 * 3_600_000)).toBe(5);
});

test('a row whose worker may be alive after an outage is left to it for seven seconds', async () => {
  const ids = await waiting(Array.from({ length: 20 }, () => ({ dueAt: ago(30_000) })));
  await query('UPDATE emails SET lease_token = id WHERE id IN (?)', [ids.map(idToBytes)]);
  const from = databaseTime().getTime() + 7_000;
  await recovery.sweep();
  const jobs = await queueOf('send-email').getJobs(['delayed']);
  expect(jobs).toHaveLength(20);
  for (const { timestamp, delay } of jobs) expect(timestamp + delay).toBeGreaterThanOrEqual(from);
});

test('what is due later takes up half of the room at most, in the order of its time, and is marked', async () => {
  const minute = 60_000;
  // Each run lets in only a few emails of a workspace.
  const sweepOften = async () => {
    for (let runs = 0; runs < 8; runs += 1) await recovery.sweep();
  };
  const rows = Array.from({ length: 400 }, (_, index) => ({ dueAt: ago(-5 * minute - index), parked: true }));
  const ids = await waiting([...rows, { dueAt: ago(-40 * minute), parked: true }]);
  await sweepOften();
  const parked = async () =>
    (await query<{ id: Buffer }[]>('SELECT id FROM emails WHERE parked = 1 ORDER BY id')).map((row) =>
      idFromBytes('email', row['id']),
    );
  expect(await queueOf('send-email').getDelayedCount()).toBe(250);
  expect(await parked()).toEqual(ids.slice(250));
  const due = await waiting(Array.from({ length: 300 }, () => ({ dueAt: ago(1_000), parked: true })));
  await sweepOften();
  // Of the due emails, as many as there is room for are in Redis.
  expect(await queueOf('send-email').getDelayedCount()).toBe(250);
  expect((await parked()).filter((id) => due.includes(id))).toHaveLength(50);
});

test('a kind of work that cannot be swept keeps none of the others from it, and its fault is told', async () => {
  const api = await startApi();
  const { id } = await sendSms(api, await textingWorkspace());
  const job = () => queueOf(sendSmsJob.lanes.default).getJob(`${id}-1`);
  await waitFor('its job is in Redis', job);
  await forgetRedis();
  await query('UPDATE sms_messages SET due_at = ? WHERE id = ?', [ago(30_000), idToBytes(id)]);
  await query('RENAME TABLE emails TO emails_away');
  try {
    await expect(recovery.sweep()).rejects.toThrow(/emails/);
    expect(await job()).toBeDefined();
  } finally {
    await query('RENAME TABLE emails_away TO emails');
  }
  await recovery.sweep();
});

test('what is over is left alone', async () => {
  const ids = await waiting([{ dueAt: ago(5_000) }, { dueAt: ago(5_000), parked: true }]);
  for (const status of ['sent', 'delivered', 'failed', 'cancelled']) {
    await query('UPDATE emails SET status = ? WHERE id IN (?)', [status, ids.map(idToBytes)]);
    await recovery.sweep();
    expect(await jobIds()).toEqual([]);
  }
});
