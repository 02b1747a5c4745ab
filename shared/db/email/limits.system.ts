import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { execute, query, transaction } from '../client.ts';

/**
 * The recent sending of workspaces with a limit. Each period is counted in slots of a sixtieth of its length, so that a
 * limit holds for any minute, hour or day, not only for one that begins with the clock.
 */

type Period = 'minute' | 'hour' | 'day';
type SendingLimits = Record<Period, number | null>;

const slotMs: Record<Period, number> = { minute: 1_000, hour: 60_000, day: 1_440_000 };
const periods = Object.keys(slotMs) as Period[];
const limitsOf = periods.map((period) => `emails_per_${period} AS ${period}`).join(', ');
/** Sixty whole slots, and the current one. */
const slotsCounted = 61;

const slotAt = (period: Period, at: Date) => Math.floor(at.getTime() / slotMs[period]);
const firstCounted = (period: Period, at: Date) => slotAt(period, at) - slotsCounted + 1;

/** How many emails of a period are counted, and the oldest slot that has some. */
type Used = { period: Period; emails: string; oldest: number };

/** Returns how many emails each workspace may still send: the least of its periods, and Infinity without a limit. */
export async function listAllowances(workspaceIds: string[], at: Date): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map();
  const ids = workspaceIds.map(idToBytes);
  const rows = await query<(SendingLimits & { id: Buffer })[]>(
    `SELECT id, ${limitsOf} FROM workspaces WHERE id IN (?)`,
    [ids],
  );
  const used = await query<(Used & { workspace_id: Buffer })[]>(
    `SELECT workspace_id, period, SUM(emails) AS emails, MIN(slot) AS oldest FROM email_sendings
     WHERE workspace_id IN (?) AND (${counted}) GROUP BY workspace_id, period`,
    [ids, ...countedSince(at)],
  );
  const usedOf = Map.groupBy(used, (row) => row.workspace_id.toString('hex'));
  return new Map(
    rows.map((row) => [
      idFromBytes('workspace', row.id),
      leftOf(row, usedOf.get(row.id.toString('hex')) ?? []),
    ]),
  );
}

const counted = periods.map((period) => `(period = '${period}' AND slot >= ?)`).join(' OR ');
const countedSince = (at: Date) => periods.map((period) => firstCounted(period, at));

function leftOf(limits: SendingLimits, used: Used[]): number {
  return Math.min(
    ...periods.map((period) => {
      const limit = limits[period];
      const sent = Number(used.find((one) => one.period === period)?.emails ?? 0);
      return limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - sent);
    }),
  );
}

/**
 * Takes up to `wanted` emails out of the allowance of a workspace, and returns how many it took. Concurrent callers in
 * all processes wait for the row of the workspace. If fewer than wanted are left, the workspace is held until more are
 * allowed.
 */
export async function updateTaken(workspaceId: string, wanted: number, at: Date): Promise<number> {
  const id = idToBytes(workspaceId);
  return transaction(async () => {
    const [limits] = await execute<SendingLimits[]>(
      `SELECT ${limitsOf} FROM workspaces WHERE id = ? FOR UPDATE`,
      [id],
    );
    if (!limits) return wanted;
    const used = await query<Used[]>(
      `SELECT period, SUM(emails) AS emails, MIN(slot) AS oldest FROM email_sendings
       WHERE workspace_id = ? AND (${counted}) GROUP BY period`,
      [id, ...countedSince(at)],
    );
    const taken = Math.min(wanted, leftOf(limits, used));
    const limited = periods.filter((period) => limits[period] !== null);
    if (taken > 0 && limited.length > 0) await insertSent(id, limited, taken, at);
    if (taken < wanted)
      await execute('UPDATE workspaces SET emails_held_until = ? WHERE id = ?', [
        new Date(Math.max(...limited.map((period) => freeAt(period, limits, used, taken, at)))),
        id,
      ]);
    return taken;
  });
}

/** Gives back one of the emails that were taken at this time, and ends the workspace's hold, for its limit has room. */
export async function updateGivenBack(workspaceId: string, takenAt: Date): Promise<void> {
  const id = idToBytes(workspaceId);
  await transaction(async () => {
    await execute('UPDATE workspaces SET emails_held_until = NULL WHERE id = ?', [id]);
    await query(
      `UPDATE email_sendings SET emails = emails - 1
       WHERE workspace_id = ? AND (period, slot) IN (?) AND emails > 0`,
      [id, periods.map((period) => [period, slotAt(period, takenAt)])],
    );
  });
}

/** Returns when the oldest counted slot of a period is no longer counted; at once where the period has room. */
function freeAt(period: Period, limits: SendingLimits, used: Used[], taken: number, at: Date): number {
  const sent = used.find((one) => one.period === period);
  if (Number(sent?.emails ?? 0) + taken < limits[period]!) return at.getTime();
  return ((sent?.oldest ?? slotAt(period, at)) + slotsCounted) * slotMs[period];
}

async function insertSent(id: Buffer, limited: Period[], emails: number, at: Date): Promise<void> {
  await query(
    `INSERT INTO email_sendings (workspace_id, period, slot, emails) VALUES ?
     ON DUPLICATE KEY UPDATE emails = emails + VALUES(emails)`,
    [limited.map((period) => [id, period, slotAt(period, at), emails])],
  );
  for (const period of limited)
    await execute('DELETE FROM email_sendings WHERE workspace_id = ? AND period = ? AND slot < ?', [
      id,
      period,
      firstCounted(period, at),
    ]);
}
