import { idToBytes, newUuid } from '../../formats/ids.ts';
import { bytes, id, number, sharedId, text, time } from '../client/columns.ts';
import type { Lock } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { changeRow, execute, query } from '../client.ts';

/** The balance of a workspace for text messages, and the ledger of its changes. */

/**
 * Returns the balance that a workspace may still spend, in ten-thousandths of a pound; null: without limit. Callers that
 * lock it spend one after the other.
 */
export async function findSmsBalance(workspaceId: string, lock: Lock = ''): Promise<number | null> {
  const [row] = await execute<{ balance: number | string }[]>(
    `SELECT balance FROM sms_balances WHERE workspace_id = ? ${lock}`,
    [idToBytes(workspaceId)],
  );
  return row ? Number(row.balance) : null;
}

export const ledger = table('sms_ledger', {
  id: bytes(),
  workspaceId: sharedId('workspace'),
  /** `carried`: the sum of older entries whose messages are gone; `closing`: the balance has become unlimited. */
  kind: text<'credit' | 'charge' | 'refund' | 'carried' | 'closing'>(),
  /** Positive: the balance rises. */
  amount: number(),
  smsId: id('sms').nullable(),
  note: text().nullable(),
  createdAt: time(),
});
const entry = ledger.omit('id', 'workspaceId');
export type LedgerEntry = RecordOf<typeof entry>;

/**
 * Changes the balance by the sum of the entries, and stores them; writes nothing where the workspace has no balance.
 */
export async function updateSmsBalance(workspaceId: string, entries: LedgerEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const hasBalance = await changeRow('UPDATE sms_balances SET balance = balance + ? WHERE workspace_id = ?', [
    entries.reduce((sum, { amount }) => sum + amount, 0),
    idToBytes(workspaceId),
  ]);
  if (hasBalance) await insertLedger(workspaceId, entries);
}

/**
 * Stores the entries and then changes the balance, last, so that others wait only for the commit. False where there is
 * no balance, or it is too low by now: the caller must then not commit.
 */
export async function updateSmsBalanceWithin(workspaceId: string, entries: LedgerEntry[]): Promise<boolean> {
  await insertLedger(workspaceId, entries);
  const cost = -entries.reduce((sum, { amount }) => sum + amount, 0);
  return changeRow('UPDATE sms_balances SET balance = balance - ? WHERE workspace_id = ? AND balance >= ?', [
    cost,
    idToBytes(workspaceId),
    cost,
  ]);
}

/** Stores a credit and adds it to the balance. Creates a missing balance: from then on spending is counted. */
export async function insertSmsCredit(workspaceId: string, entry: LedgerEntry): Promise<void> {
  await execute(
    'INSERT INTO sms_balances (workspace_id, balance) VALUES (?, ?) ON DUPLICATE KEY UPDATE balance = balance + ?',
    [idToBytes(workspaceId), entry.amount, entry.amount],
  );
  await insertLedger(workspaceId, [entry]);
}

/** Deletes the balance and adds the entry that closes the ledger: the sum of its entries is zero from then on. */
export async function deleteSmsBalance(workspaceId: string, closing: LedgerEntry): Promise<void> {
  await insertLedger(workspaceId, [closing]);
  await execute('DELETE FROM sms_balances WHERE workspace_id = ?', [idToBytes(workspaceId)]);
}

async function insertLedger(workspaceId: string, entries: LedgerEntry[]): Promise<void> {
  await query(`INSERT INTO ${ledger.into} VALUES ?`, [
    entries.map((entry) => ledger.toValues({ ...entry, id: newUuid(entry.createdAt), workspaceId })),
  ]);
}

/** Newest first. */
export async function listSmsLedger(workspaceId: string, limit: number): Promise<LedgerEntry[]> {
  return entry.toRecords(
    await query(
      'SELECT * FROM sms_ledger FORCE INDEX (sms_ledger_listed) WHERE workspace_id = ? ORDER BY id DESC LIMIT ?',
      [idToBytes(workspaceId), limit],
    ),
  );
}
