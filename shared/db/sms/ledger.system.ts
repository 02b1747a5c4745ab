import { firstUuidAt } from '../../formats/ids.ts';
import { deleteByIds } from '../client/rows.system.ts';
import { byId, changeRows, query } from '../client.ts';
import { updateCounter } from '../server/counters.system.ts';
import { ledger } from './balances.ts';

/** Lists ids of ledger entries from before then whose message is gone, oldest first. */
export async function listSettledEntries(before: Date, limit: number): Promise<Buffer[]> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT l.id FROM sms_ledger l ${byId} LEFT JOIN sms_messages m ON m.id = l.sms_id
     WHERE l.id < ? AND l.sms_id IS NOT NULL AND m.id IS NULL ORDER BY l.id LIMIT ?`,
    [firstUuidAt(before), limit],
  );
  return rows.map((row) => row.id);
}

const carried = ledger.omit('smsId', 'note').inBytes();
type Carried = { workspaceId: Buffer; amount: number };

/** Returns the sums of these entries for each workspace, and locks the entries until the transaction ends. */
export async function listSumsForUpdate(ids: Buffer[]): Promise<Carried[]> {
  const rows = await query<{ workspace_id: Buffer; amount: number | string }[]>(
    `SELECT workspace_id, amount FROM sms_ledger ${byId} WHERE id IN (?) FOR UPDATE`,
    [ids],
  );
  const sums = new Map<string, Carried>();
  for (const row of rows) {
    const name = row.workspace_id.toString('hex');
    const sum = sums.get(name)?.amount ?? 0;
    sums.set(name, { workspaceId: row.workspace_id, amount: sum + Number(row.amount) });
  }
  return [...sums.values()];
}

/**
 * Adds to the first entry of a ledger, which carries the sum of deleted ones. The entry has the id of the workspace, so
 * a ledger has only one such entry. The id contains the time when the workspace was made, so this entry comes before
 * all others.
 */
export async function updateCarried(sums: Carried[], at: Date): Promise<void> {
  if (sums.length === 0) return;
  await query(
    `INSERT INTO ${carried.into} VALUES ?
     ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount), created_at = VALUES(created_at)`,
    [
      sums.map(({ workspaceId, amount }) =>
        carried.toValues({ id: workspaceId, workspaceId, kind: 'carried', amount, createdAt: at }),
      ),
    ],
  );
}

export function deleteEntries(ids: Buffer[]): Promise<number> {
  return deleteByIds('sms_ledger', ids);
}

/** Returns the time of the entry that follows `others` entries made since then; null where there are fewer. */
export async function findEntryTime(since: Date, others: number): Promise<Date | null> {
  const [row] = await query<{ id: Buffer }[]>(
    'SELECT id FROM sms_ledger WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?',
    [firstUuidAt(since), others],
  );
  return row ? new Date(row.id.readUIntBE(0, 6)) : null;
}

/** Adds the entries of a period, by the times in their ids, to the sums, and moves the mark to its end. */
export async function sumLedger(from: Date, to: Date): Promise<void> {
  await query(
    `INSERT INTO sms_ledger_sums (workspace_id, start, kind, amount)
     SELECT workspace_id, FLOOR(UNIX_TIMESTAMP(created_at) / 3600), kind, SUM(amount) AS added FROM sms_ledger
     WHERE id >= ? AND id < ? GROUP BY 1, 2, 3
     ON DUPLICATE KEY UPDATE sms_ledger_sums.amount = sms_ledger_sums.amount + VALUES(amount)`,
    [firstUuidAt(from), firstUuidAt(to)],
  );
  await updateCounter('sms_ledger.summed', to.getTime());
}

/** Deletes sums of hours before `hour`, counted from 1970. */
export function deleteLedgerSumsBefore(hour: number, limit: number): Promise<number> {
  return changeRows('DELETE FROM sms_ledger_sums WHERE start < ? LIMIT ?', [hour, limit]);
}
