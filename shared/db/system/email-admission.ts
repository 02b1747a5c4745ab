import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, query, type Row } from '../client.ts';
import type { EmailKind } from '../emails.ts';

/** Which emails of which workspaces have a job in Redis: those with parked = 0, as many as the workspace has room for. */

const waiting = 'emails FORCE INDEX (emails_admission)';

/** Of which kinds emails are queued, parked or not: a step along the index for each, however many there are. */
export async function listQueuedKinds(): Promise<{ kind: EmailKind; parked: boolean }[]> {
  const rows = await query(
    `SELECT kind, parked FROM ${waiting} WHERE status = 'queued' GROUP BY status, kind, parked`,
  );
  return rows.map((row) => ({ kind: row.kind, parked: row.parked === 1 }));
}

/**
 * Workspaces with queued emails of a kind, parked or not, in the order of their ids, each with the time that the first
 * of them is due. One with a million of them is one step along the index, as any other.
 */
export async function listWorkspacesWaiting(
  kind: EmailKind,
  parked: boolean,
  after: string | null,
  limit: number,
): Promise<{ workspaceId: string; dueAt: Date }[]> {
  // MariaDB takes the step only where the columns before it are grouped by as well.
  const rows = await query(
    `SELECT workspace_id, MIN(due_at) AS due FROM ${waiting}
     WHERE status = 'queued' AND kind = ? AND parked = ? AND workspace_id > ?
     GROUP BY status, kind, parked, workspace_id ORDER BY status, kind, parked, workspace_id LIMIT ?`,
    [kind, parked, after === null ? Buffer.alloc(0) : idToBytes(after), limit],
  );
  return rows.map((row) => ({ workspaceId: idFromBytes('workspace', row.workspace_id), dueAt: row.due }));
}

export type Admission = {
  workspaceId: string;
  sendingBlocked: boolean;
  isLimited: boolean;
  /** Nothing goes out before then, as a limit is used up. */
  heldUntil: Date | null;
  /** Some are due and have no job. */
  hasParked: boolean;
  /** How many have a job in Redis. */
  admitted: number;
};

/** How much of a kind each of these workspaces has in Redis, and what it may have. */
export async function listAdmissions(
  kind: EmailKind,
  workspaceIds: string[],
  dueBefore: Date,
): Promise<Admission[]> {
  if (workspaceIds.length === 0) return [];
  const rows = await query(
    `SELECT w.id, w.sending_blocked, w.emails_held_until,
       COALESCE(w.emails_per_minute, w.emails_per_hour, w.emails_per_day) IS NOT NULL AS limited,
       EXISTS (SELECT 1 FROM ${waiting} WHERE status = 'queued' AND kind = ? AND parked = 1 AND workspace_id = w.id
         AND due_at <= ?) AS has_parked,
       (SELECT COUNT(*) FROM ${waiting} WHERE status = 'queued' AND kind = ? AND parked = 0 AND workspace_id = w.id)
         AS admitted
     FROM workspaces w ${byId} WHERE w.id IN (?)`,
    [kind, dueBefore, kind, workspaceIds.map(idToBytes)],
  );
  return rows.map((row) => ({
    workspaceId: idFromBytes('workspace', row.id),
    sendingBlocked: row.sending_blocked === 1,
    isLimited: row.limited === 1,
    heldUntil: row.emails_held_until,
    hasParked: row.has_parked === 1,
    admitted: Number(row.admitted),
  }));
}

/** How many jobs each of these workspaces has, in all lanes, that are due then and in nobody's hand. */
export async function listDueJobs(workspaceIds: string[], dueBefore: Date): Promise<Map<string, number>> {
  if (workspaceIds.length === 0) return new Map();
  const rows = await query(
    `SELECT workspace_id, COUNT(*) AS jobs FROM ${waiting}
     WHERE status = 'queued' AND kind IN ('authentication', 'transactional', 'marketing') AND parked = 0
       AND workspace_id IN (?) AND due_at <= ? GROUP BY workspace_id`,
    [workspaceIds.map(idToBytes), dueBefore],
  );
  return new Map(rows.map((row) => [idFromBytes('workspace', row.workspace_id), Number(row.jobs)]));
}

export type WaitingEmail = {
  id: string;
  workspaceId: string;
  dueAt: Date;
  claims: number;
  requestId: string | null;
  /** A worker had it in hand when its lease ended. */
  isLeft: boolean;
};

/** Of each of these workspaces the emails that are due first, no later than its `dueBefore` and no more than its limit. */
export async function listDueOf(
  kind: EmailKind,
  parked: boolean,
  workspaces: { workspaceId: string; dueBefore: Date; limit: number }[],
): Promise<WaitingEmail[]> {
  if (workspaces.length === 0) return [];
  const rows = await query(
    workspaces
      .map(
        () => `(SELECT id, workspace_id, due_at, claims, request_id, lease_token IS NOT NULL AS is_left FROM ${waiting}
          WHERE status = 'queued' AND kind = ? AND parked = ? AND workspace_id = ? AND due_at <= ?
          ORDER BY due_at LIMIT ?)`,
      )
      .join(' UNION ALL '),
    workspaces.flatMap(({ workspaceId, dueBefore, limit }) => [
      kind,
      parked,
      idToBytes(workspaceId),
      dueBefore,
      limit,
    ]),
  );
  return rows.map(toWaiting);
}

function toWaiting(row: Row): WaitingEmail {
  return {
    id: idFromBytes('email', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    dueAt: row.due_at,
    claims: row.claims,
    requestId: row.request_id?.toString() ?? null,
    isLeft: row.is_left === 1,
  };
}

/**
 * They get a job in Redis; what somebody else admits at this moment is his. Returns how many are ours. They are due from
 * now on, however long they have waited: by that it is told whether a job is lost.
 */
export async function updateAdmitted(emailIds: string[], at: Date): Promise<number> {
  const { affectedRows } = await query<Changed>(
    `UPDATE emails ${byId} SET parked = 0, due_at = GREATEST(due_at, ?)
     WHERE id IN (?) AND status = 'queued' AND parked = 1`,
    [at, emailIds.map(idToBytes)],
  );
  return affectedRows;
}

/** They have no job in Redis after all, and their old place. What somebody has in hand is left alone. */
export async function updateParked(emailIds: string[]): Promise<void> {
  if (emailIds.length > 0)
    await query(
      `UPDATE emails ${byId} SET parked = 1, due_at = IF(retries = 0, COALESCE(scheduled_at, created_at), due_at)
       WHERE id IN (?) AND status = 'queued' AND parked = 0 AND lease_token IS NULL`,
      [emailIds.map(idToBytes)],
    );
}

/** When a queued email was to go out; null when it is queued no more. */
export async function findDueSince(emailId: string): Promise<Date | null> {
  const [row] = await query(
    "SELECT COALESCE(scheduled_at, created_at) AS since FROM emails WHERE id = ? AND status = 'queued'",
    [idToBytes(emailId)],
  );
  return row?.since ?? null;
}

/**
 * Since when the email of a kind that waits longest has been due, of those that have a job in Redis and of those that
 * wait for room there though nothing holds their workspace back; null when there is none.
 */
export async function findOldestDueEmails(
  kind: EmailKind,
  at: Date,
): Promise<{ admitted: Date | null; parked: Date | null }> {
  const rows = await query(
    `SELECT parked, MIN(due) AS due FROM
       (SELECT parked, workspace_id, MIN(due_at) AS due FROM ${waiting} WHERE status = 'queued' AND kind = ?
        GROUP BY status, kind, parked, workspace_id) AS firsts
     LEFT JOIN workspaces w ON w.id = firsts.workspace_id
     WHERE due <= ? AND (parked = 0 OR (w.sending_blocked = 0
       AND COALESCE(w.emails_per_minute, w.emails_per_hour, w.emails_per_day) IS NULL))
     GROUP BY parked`,
    [kind, at],
  );
  const of = (parked: 0 | 1): Date | null => rows.find((row) => row.parked === parked)?.due ?? null;
  return { admitted: of(0), parked: of(1) };
}
