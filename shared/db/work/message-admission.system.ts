import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, query } from '../client.ts';
import { admittedOf, findOldestDue, hasParkedDue } from './admission.system.ts';
import type { WorkTable } from './table.system.ts';

/** The state of workspaces that decides which of their messages get a job: blocks, limits and jobs. */

/** Returns SQL: since when the operator has blocked the workspace of this alias; null where it may send. */
export const blockedSince = (alias: string): string =>
  // If the previous version has blocked the workspace, the time is unknown. This value is before all of its messages.
  `IF(${alias}.sending_blocked = 1, COALESCE(${alias}.sending_blocked_at, ${alias}.created_at), NULL)`;

export type MessageAdmission = {
  workspaceId: string;
  blockedSince: Date | null;
  isLimited: boolean;
  /** Nothing goes out before then, as a limit is used up. */
  heldUntil: Date | null;
  /** Some messages are due and have no job. */
  hasParked: boolean;
  /** How many have a job in Redis. */
  admitted: number;
};

type AdmissionRow = {
  id: Buffer;
  blocked_since: Date | null;
  limited: number;
  held_until: Date | null;
  has_parked: number;
  admitted: number;
};

/** Lists how many messages of a lane each workspace has in Redis, and the limits that may keep it from having more. */
export async function listAdmissions<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane,
  workspaceIds: string[],
  dueBefore: Date,
): Promise<MessageAdmission[]> {
  if (workspaceIds.length === 0) return [];
  const hasParked = hasParkedDue(table, lane, 'o.id', dueBefore);
  const admitted = admittedOf(table, lane, 'o.id');
  const rows = await query<AdmissionRow[]>(
    `SELECT o.id, ${blockedSince('o')} AS blocked_since, ${table.limit.isSet} AS limited, ${table.limit.heldUntil} AS held_until,
       ${hasParked.sql} AS has_parked, ${admitted.sql} AS admitted
     FROM workspaces o ${byId} WHERE o.id IN (?)`,
    [...hasParked.values, ...admitted.values, workspaceIds.map(idToBytes)],
  );
  return rows.map((row) => ({
    workspaceId: idFromBytes('workspace', row.id),
    blockedSince: row.blocked_since,
    isLimited: row.limited === 1,
    heldUntil: row.held_until,
    hasParked: row.has_parked === 1,
    admitted: row.admitted,
  }));
}

/**
 * Returns the oldest due times; parked messages only of workspaces without a limit, since others wait for that.
 * `isBlockable`: without the parked messages of blocked workspaces too.
 */
export function findOldestDueMessages<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane,
  at: Date,
  isBlockable: boolean,
): Promise<{ admitted: Date | null; parked: Date | null }> {
  const mayGoOn = `${isBlockable ? 'o.sending_blocked = 0 AND ' : ''}NOT (${table.limit.isSet})`;
  return findOldestDue(table, lane, at, { table: 'workspaces', mayGoOn });
}
