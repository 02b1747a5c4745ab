import { idToBytes } from '../../formats/ids.ts';
import { day, id, int } from '../client/columns.ts';
import { findRow, insertRow, type Lock } from '../client/rows.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, changeRow, execute, query } from '../client.ts';
import { apiKeys } from './api-keys.ts';

/** The parts of texts that each key has sent today and this month, for the limits of keys. */

const keyUsage = table('key_usage', {
  lineageId: id('key'),
  day: day(),
  usedInDay: int(),
  month: day(),
  usedInMonth: int(),
});
/** The usage of a key with its rotations. Days are YYYY-MM-DD, a month is its first day. */
export type KeyUsageRecord = RecordOf<typeof keyUsage>;
export type UsagePeriod = { day: string; month: string };

// The largest number that the columns can hold. It is the limit of a key without one, because a larger count would be
// an error.
const noLimit = 4_294_967_295;

/** A row that counts nothing yet. */
export function insertKeyUsage(workspaceId: string, lineageId: string, period: UsagePeriod): Promise<void> {
  return insertRow(workspaceId, keyUsage, { lineageId, ...period, usedInDay: 0, usedInMonth: 0 });
}

export function findKeyUsage(
  workspaceId: string,
  lineageId: string,
  lock: Lock = '',
): Promise<KeyUsageRecord | null> {
  return findRow(workspaceId, keyUsage, { lineageId }, lock);
}

/** Returns the usage of all keys of the workspace, by lineage. */
export async function listKeyUsage(workspaceId: string): Promise<Map<string, KeyUsageRecord>> {
  const records = keyUsage.toRecords(
    await query('SELECT * FROM key_usage WHERE workspace_id = ?', [idToBytes(workspaceId)]),
  );
  return new Map(records.map((record) => [record.lineageId, record]));
}

export type UsageLimits = RecordOf<typeof limits>;
const limits = apiKeys.pick('dailyParts', 'monthlyParts');

/** The limits of one key; null when it is gone. */
export async function findKeyLimits(workspaceId: string, keyId: string): Promise<UsageLimits | null> {
  return limits.toFirst(
    await execute(`SELECT ${limits.columns} FROM api_keys WHERE workspace_id = ? AND id = ?`, [
      idToBytes(workspaceId),
      idToBytes(keyId),
    ]),
  );
}

/** The limits of the newest key of a lineage that is still good; null when there is none. */
export async function findLimitsOfLineage(
  workspaceId: string,
  lineageId: string,
  at: Date,
): Promise<UsageLimits | null> {
  return limits.toFirst(
    await execute(
      `SELECT ${limits.columns} FROM api_keys
     WHERE workspace_id = ? AND lineage_id = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id DESC LIMIT 1`,
      [idToBytes(workspaceId), idToBytes(lineageId), at],
    ),
  );
}

/**
 * Adds the parts if both limits allow it; returns whether they do. A count of an earlier day or month starts anew. A
 * process whose clock is ahead may have begun the count of a later one; that count continues.
 */
export function updateKeyUsageTaken(
  workspaceId: string,
  lineageId: string,
  parts: number,
  { day, month }: UsagePeriod,
  { dailyParts, monthlyParts }: UsageLimits,
): Promise<boolean> {
  const sets = [day, parts, day, day, month, parts, month, month];
  const bounds = [day, parts, dailyParts ?? noLimit, month, parts, monthlyParts ?? noLimit];
  // Each count is set before its period, which it depends on: assignments are made from left to right.
  return changeRow(
    `UPDATE key_usage ${byId} SET
        used_in_day = IF(day < ?, 0, used_in_day) + ?,
        day = IF(day < ?, ?, day),
        used_in_month = IF(month < ?, 0, used_in_month) + ?,
        month = IF(month < ?, ?, month)
      WHERE workspace_id = ? AND lineage_id = ?
        AND IF(day < ?, 0, used_in_day) + ? <= ?
        AND IF(month < ?, 0, used_in_month) + ? <= ?`,
    [...sets, idToBytes(workspaceId), idToBytes(lineageId), ...bounds],
  );
}

/** Subtracts the parts from the count of this day and the count of this month. A count of another period stays. */
export async function updateKeyUsageGivenBack(
  workspaceId: string,
  lineageId: string,
  parts: number,
  { day, month }: UsagePeriod,
): Promise<void> {
  await execute(
    `UPDATE key_usage ${byId} SET
        used_in_day = used_in_day - IF(day = ?, LEAST(used_in_day, ?), 0),
        used_in_month = used_in_month - IF(month = ?, LEAST(used_in_month, ?), 0)
      WHERE workspace_id = ? AND lineage_id = ?`,
    [day, parts, month, parts, idToBytes(workspaceId), idToBytes(lineageId)],
  );
}

export async function deleteKeyUsage(workspaceId: string, lineageId: string): Promise<void> {
  await query(`DELETE u FROM key_usage u ${byId} WHERE workspace_id = ? AND lineage_id = ?`, [
    idToBytes(workspaceId),
    idToBytes(lineageId),
  ]);
}
