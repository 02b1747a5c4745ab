import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { findRowOfAny } from '../client/rows.system.ts';
import { byId, execute, query } from '../client.ts';
import { type BusinessProfileRecord, businessProfiles } from './business-profiles.ts';

/** Returns the workspace of a sender, because the operator knows a sender by its id alone. */
export async function findWorkspaceOfSender(senderId: string): Promise<string | null> {
  const [row] = await execute<{ workspace_id: Buffer }[]>(
    `SELECT workspace_id FROM senders ${byId} WHERE id = ?`,
    [idToBytes(senderId)],
  );
  return row ? idFromBytes('workspace', row.workspace_id) : null;
}

export function findBusinessProfileById(profileId: string): Promise<BusinessProfileRecord | null> {
  return findRowOfAny(businessProfiles, profileId);
}

type OwnedSenderRow = { id: Buffer; workspace_id: Buffer };

/** The sender that has the virtual number. */
export async function findSenderOfVirtualNumber(
  number: string,
): Promise<{ id: string; workspaceId: string } | null> {
  const [row] = await execute<OwnedSenderRow[]>(
    'SELECT id, workspace_id FROM senders WHERE virtual_number = ?',
    [Buffer.from(number)],
  );
  if (!row) return null;
  return { id: idFromBytes('sender', row.id), workspaceId: idFromBytes('workspace', row.workspace_id) };
}

const toReview = `sender_countries c JOIN senders s ON s.id = c.sender_id
     WHERE c.status = 'pending' AND s.status IN ('pending', 'approved') AND s.kind = 'sender_name'`;

/** How many senders a reviewer can decide on, and since when the oldest of their requests has waited. */
export async function findReviewsLeft(): Promise<{ senders: number; since: Date | null }> {
  const [row] = await query<{ senders: number; since: Date | null }[]>(
    `SELECT COUNT(DISTINCT s.id) AS senders, MIN(COALESCE(c.requested_at, s.created_at)) AS since FROM ${toReview}`,
  );
  return row!;
}

/** Senders that a reviewer can decide on, of one workspace or of all; oldest first. */
export async function listSendersToReview(
  workspaceId: string | null,
  limit: number,
): Promise<{ id: string; workspaceId: string }[]> {
  const only = workspaceId === null ? '' : 'AND s.workspace_id = ?';
  const rows = await query<OwnedSenderRow[]>(
    `SELECT DISTINCT s.id, s.workspace_id FROM ${toReview} ${only}
     ORDER BY s.id LIMIT ?`,
    [...(workspaceId === null ? [] : [idToBytes(workspaceId)]), limit],
  );
  return rows.map((row) => ({
    id: idFromBytes('sender', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
  }));
}
