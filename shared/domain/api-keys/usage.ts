import { now } from '../../common/clock.ts';
import { type Problem, problem } from '../../common/errors.ts';
import * as db from '../../db/api-keys/usage.ts';
import { beforeCommit } from '../../db/client.ts';
import type { Caller } from '../../schemas/scopes.ts';

/** Counts the parts of texts against the limits of a key and its rotations. */

const dayMs = 86_400_000;

/** Returns the UTC day and month of a time, in the form that the counts of a key use. */
function periodOf(time: Date): db.UsagePeriod {
  const day = time.toISOString().slice(0, 10);
  return { day, month: `${day.slice(0, 7)}-01` };
}

/** Inserts the counts of a key; later rotations of the key use the same row. */
export async function open(workspaceId: string, lineageId: string, time: Date): Promise<void> {
  await db.insertKeyUsage(workspaceId, lineageId, periodOf(time));
}

/**
 * Counts SMS parts against the limits of the key and its rotations together, at the end of the transaction that accepts
 * the message; throws limit_reached when they do not fit. `at` is the message's own time, which `giveBack` needs later.
 */
export async function reserve(
  { workspaceId, keyId, lineageId }: Pick<Caller, 'workspaceId' | 'keyId' | 'lineageId'>,
  parts: number,
  at: Date,
): Promise<void> {
  const limits = await db.findKeyLimits(workspaceId, keyId);
  // The key was deleted since the request was admitted.
  if (!limits) throw problem('unauthenticated');
  await beforeCommit(async () => {
    if (!(await db.updateKeyUsageTaken(workspaceId, lineageId, parts, periodOf(at), limits)))
      throw await limitReached({ workspaceId, lineageId }, limits, { parts, at });
  });
}

async function limitReached(
  { workspaceId, lineageId }: Pick<Caller, 'workspaceId' | 'lineageId'>,
  { dailyParts, monthlyParts }: db.UsageLimits,
  { parts, at }: { parts: number; at: Date },
): Promise<Problem> {
  const usage = await db.findKeyUsage(workspaceId, lineageId);
  // The last key of the lineage was deleted while we waited for its counts.
  if (!usage) return problem('unauthenticated');
  const { usedToday, usedThisMonth } = shown(usage, at);
  const isMonth = dailyParts === null || (monthlyParts !== null && usedThisMonth + parts > monthlyParts);
  const end = endOf(isMonth ? 'month' : 'day', at);
  return problem('limit_reached', {
    detail: isMonth
      ? `The key has used ${usedThisMonth} of its ${monthlyParts} parts of this month, and this request needs ${parts}.`
      : `The key has used ${usedToday} of its ${dailyParts} parts of today, and this request needs ${parts}.`,
    retryAfterSeconds: Math.max(1, Math.ceil((end.getTime() - now().getTime()) / 1000)),
  });
}

export type PartsAllowance = { parts: number; limits: db.UsageLimits };

/** Returns how many parts a key and its rotations may still send; null where none of them is valid any more. */
export async function findRoom(
  workspaceId: string,
  lineageId: string,
  at: Date,
): Promise<PartsAllowance | null> {
  const [limits, usage] = await Promise.all([
    db.findLimitsOfLineage(workspaceId, lineageId, at),
    db.findKeyUsage(workspaceId, lineageId),
  ]);
  if (!limits) return null;
  const { usedToday, usedThisMonth } = shown(usage, at);
  const { dailyParts, monthlyParts } = limits;
  const left = (most: number | null, used: number) =>
    most === null ? Number.POSITIVE_INFINITY : Math.max(0, most - used);
  return { parts: Math.min(left(dailyParts, usedToday), left(monthlyParts, usedThisMonth)), limits };
}

/**
 * Counts the parts of many messages of one time; false where they do not fit any more. Call it last in a transaction:
 * other messages of the key wait from here to its end.
 */
export async function take(
  workspaceId: string,
  lineageId: string,
  { parts, at, limits }: { parts: number; at: Date; limits: db.UsageLimits },
): Promise<boolean> {
  return db.updateKeyUsageTaken(workspaceId, lineageId, parts, periodOf(at), limits);
}

function endOf(period: 'day' | 'month', time: Date): Date {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth()];
  if (period === 'month') return new Date(Date.UTC(year, month + 1));
  return new Date(Date.UTC(year, month, time.getUTCDate()) + dayMs);
}

/**
 * Takes back the parts that were reserved at that time for a message that is never sent. Call it once for each
 * message, in the transaction that ends the message. A reservation of another day or month no longer counts anyway.
 */
export async function giveBack(
  workspaceId: string,
  lineageId: string,
  parts: number,
  reservedAt: Date,
): Promise<void> {
  await db.updateKeyUsageGivenBack(workspaceId, lineageId, parts, periodOf(reservedAt));
}

export type Usage = { usedToday: number; usedThisMonth: number };

export async function find(workspaceId: string, lineageId: string): Promise<Usage> {
  return shown(await db.findKeyUsage(workspaceId, lineageId), now());
}

/** Returns the usage of every key of the workspace, by lineage. */
export async function list(workspaceId: string): Promise<(lineageId: string) => Usage> {
  const usage = await db.listKeyUsage(workspaceId);
  const time = now();
  return (lineageId) => shown(usage.get(lineageId) ?? null, time);
}

function shown(usage: db.KeyUsageRecord | null, time: Date): Usage {
  const { day, month } = periodOf(time);
  return {
    usedToday: usage && usage.day >= day ? usage.usedInDay : 0,
    usedThisMonth: usage && usage.month >= month ? usage.usedInMonth : 0,
  };
}

/** Locks a lineage: of two transactions that each end one of its keys, the later must see that its key is the last. */
export async function lock(workspaceId: string, lineageId: string): Promise<void> {
  await db.findKeyUsage(workspaceId, lineageId, 'FOR UPDATE');
}

/** Deletes the counts, when the last key of the lineage is gone. */
export const close = db.deleteKeyUsage;
