import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { type Param, query } from '../../shared/db/client.ts';
import * as retention from '../../shared/domain/operations/retention.ts';
import { newUuid } from '../../shared/formats/ids.ts';
import { useDatabase } from '../support/database/database.ts';
import { tableBounds } from './table-bounds.ts';

useDatabase();

test('every table is listed with what keeps it from growing without end', async () => {
  const rows = await query(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name NOT LIKE 'knex%' ORDER BY table_name`,
  );
  expect(Object.keys(tableBounds).toSorted()).toEqual(rows.map(({ name }) => String(name)).toSorted());
});

const old = new Date(now().getTime() - 200 * 86_400_000);

/** Inserts a row that is 200 days old; required columns that are not given get any value of their type. */
async function insertOld(table: string, given: Record<string, Param>): Promise<void> {
  const columns = await query<{ name: string; type: string }[]>(
    `SELECT column_name AS name, column_type AS type FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name = ? AND is_nullable = 'NO' AND column_default IS NULL`,
    [table],
  );
  const anyOf = (type: string): Param => {
    if (type === 'binary(16)') return newUuid(old);
    if (type.startsWith('binary')) return randomBytes(Number(/\d+/.exec(type)![0]));
    const [, first] = /^enum\('(\w+)'/.exec(type) ?? [];
    if (first !== undefined) return first;
    if (type === 'datetime(3)') return old;
    return /int/.test(type) ? 1 : '[]';
  };
  const row = { ...Object.fromEntries(columns.map(({ name, type }) => [name, anyOf(type)])), ...given };
  await query('INSERT INTO ?? SET ?', [table, row]);
}

test('what passes is gone when its time is over, of every table that is said to pass', async () => {
  await query('DELETE FROM sms_ledger');
  await query('DELETE FROM sms_ledger_sums');
  await query("UPDATE counters SET value = 0 WHERE name = 'sms_ledger.summed'");
  const [listId, emailId, batchId] = [newUuid(old), newUuid(old), newUuid(old)];
  const given: Record<string, Record<string, Param>> = {
    events: { position: 1 },
    event_marks: { position: 1 },
    contact_list_removals: { list_id: listId },
    contact_list_copies: { completed_at: old },
    emails: { status: 'sent' },
    email_attachments: { email_id: emailId },
    email_attachment_chunks: { email_id: emailId },
    sms_messages: { status: 'delivered' },
    sms_batches: { id: batchId, status: 'over', lane: 'follow', completed_at: old },
    sms_batch_rows: { batch_id: batchId },
    sms_batch_counts: { batch_id: batchId },
    sms_ledger: { sms_id: newUuid(old), kind: 'charge', amount: -300 },
  };
  await insertOld('contact_list_members', { list_id: listId });
  await query("UPDATE counters SET value = 1 WHERE name = 'events.position'");
  const passing = Object.keys(tableBounds).filter((table) => tableBounds[table]!.kind === 'passing');
  for (const table of passing) await insertOld(table, given[table] ?? {});
  await insertOld('sms_ledger', { sms_id: newUuid(old), kind: 'refund', amount: 100 });
  await insertOld('sms_ledger', { kind: 'credit', amount: 5_000 });

  await retention.purge();
  const left: Record<string, number> = {};
  for (const table of [...passing, 'contact_list_members']) {
    // The purge itself makes a new mark, so only old marks count.
    const which = table === 'event_marks' ? 'WHERE reached_at <= ?' : '';
    const [row] = await query(`SELECT COUNT(*) AS n FROM ?? ${which}`, [table, old]);
    left[table] = Number(row!['n']);
  }
  // The ledger keeps the credits and the amounts carried over for the other workspaces, and the sums of their hours.
  const expected = Object.fromEntries(Object.keys(left).map((table) => [table, 0]));
  expect(left).toEqual({ ...expected, sms_ledger: 3, sms_ledger_sums: 3 });
});

test('the ledger keeps its sum for each workspace, and no entry of a message that is gone', async () => {
  await query('DELETE FROM sms_ledger');
  const workspaces = [newUuid(old), newUuid(old)];
  for (const workspaceId of workspaces) {
    for (let count = 0; count < 3; count += 1)
      await insertOld('sms_ledger', {
        workspace_id: workspaceId,
        sms_id: newUuid(old),
        kind: 'charge',
        amount: -300,
      });
    await insertOld('sms_ledger', { workspace_id: workspaceId, kind: 'credit', amount: 5_000 });
  }
  const kept = { id: newUuid(old), workspace_id: workspaces[0]!, status: 'queued' };
  await insertOld('sms_messages', kept);
  const own = { workspace_id: workspaces[0]!, sms_id: kept.id };
  await insertOld('sms_ledger', { ...own, kind: 'charge', amount: -7 });

  const entries = async () => {
    const rows = await query<{ workspace_id: Buffer; kind: string; amount: number }[]>(
      'SELECT workspace_id, kind, amount FROM sms_ledger ORDER BY kind, amount DESC',
    );
    const of = (workspaceId: Buffer) => rows.filter((row) => workspaceId.equals(row['workspace_id']));
    return workspaces.map((id) => of(id).map(({ kind, amount }) => [kind, amount]));
  };
  await retention.purge();
  expect(await entries()).toEqual([
    [
      ['carried', -900],
      ['charge', -7],
      ['credit', 5_000],
    ],
    [
      ['carried', -900],
      ['credit', 5_000],
    ],
  ]);
  // The message is deleted later, and its cost is added to the amount carried over.
  await query("UPDATE sms_messages SET status = 'failed'");
  await retention.purge();
  expect((await entries())[0]).toEqual([
    ['carried', -907],
    ['credit', 5_000],
  ]);
});
