import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import { query } from '../client.ts';
import type { LedgerEntry } from './balances.ts';

type LedgerTotals = {
  /** Sums by kind in ten-thousandths of a pound; what raises the balance is positive. */
  sums: Partial<Record<LedgerEntry['kind'], number>>;
  /** Null: without limit. */
  balance: number | null;
};

/**
 * Returns the sums of the entries from hour `from` up to, but not including, hour `to`, and the balance, all at one
 * moment. Hours count from 1970. Most of it is read from the sums by hour, newer entries are read themselves.
 */
export async function findLedgerTotals(workspaceId: string, from: number, to: number): Promise<LedgerTotals> {
  const id = idToBytes(workspaceId);
  const [mark] = await query<{ value: number }[]>(
    "SELECT value FROM counters WHERE name = 'sms_ledger.summed'",
  );
  // One statement sees one state of the database. The mark may have moved since it was read: the first bound on the id
  // allows the use of the index, and the second one is exact.
  const rows = await query<{ kind: LedgerEntry['kind'] | 'balance'; amount: number | string }[]>(
    `SELECT kind, SUM(amount) AS amount FROM sms_ledger_sums
     WHERE workspace_id = ? AND start >= ? AND start < ? GROUP BY kind
     UNION ALL
     SELECT kind, SUM(amount) FROM sms_ledger FORCE INDEX (sms_ledger_listed)
     WHERE workspace_id = ? AND id >= ? AND kind <> 'carried'
       AND id >= (SELECT RPAD(UNHEX(LPAD(HEX(value), 12, '0')), 16, CHAR(0)) FROM counters WHERE name = 'sms_ledger.summed')
       AND created_at >= FROM_UNIXTIME(?) AND created_at < FROM_UNIXTIME(?) GROUP BY kind
     UNION ALL
     SELECT 'balance', balance FROM sms_balances WHERE workspace_id = ?`,
    [id, from, to, id, firstUuidAt(new Date(mark!.value)), from * 3600, to * 3600, id],
  );
  const totals: LedgerTotals = { sums: {}, balance: null };
  for (const row of rows) {
    const amount = Number(row.amount);
    if (row.kind === 'balance') totals.balance = amount;
    else totals.sums[row.kind] = (totals.sums[row.kind] ?? 0) + amount;
  }
  return totals;
}
