import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { execute, query, type Row } from '../client.ts';

export type WorkspaceRecord = {
  id: string;
  name: string;
  country: string;
  alertEmail: string | null;
  webhooksEnabled: boolean;
  sendingBlocked: boolean;
  /** How many emails may go out in any such time; null: as many as there are. The rest waits. */
  emailsPerMinute: number | null;
  emailsPerHour: number | null;
  emailsPerDay: number | null;
  createdAt: Date;
};

export async function insertWorkspace(
  workspaceId: string,
  record: Omit<WorkspaceRecord, 'id'>,
): Promise<void> {
  await query('INSERT INTO workspaces SET ?', [
    {
      id: idToBytes(workspaceId),
      name: record.name,
      country: record.country,
      alert_email: record.alertEmail,
      webhooks_enabled: record.webhooksEnabled,
      sending_blocked: record.sendingBlocked,
      emails_per_minute: record.emailsPerMinute,
      emails_per_hour: record.emailsPerHour,
      emails_per_day: record.emailsPerDay,
      created_at: record.createdAt,
    },
  ]);
}

export async function findWorkspace(workspaceId: string): Promise<WorkspaceRecord | null> {
  const [row] = await execute('SELECT * FROM workspaces WHERE id = ?', [idToBytes(workspaceId)]);
  return row ? toRecord(row) : null;
}

/** Serialises what counts the workspace's records, such as a cap; until the transaction ends. */
export async function findWorkspaceForUpdate(workspaceId: string): Promise<WorkspaceRecord | null> {
  const [row] = await execute('SELECT * FROM workspaces WHERE id = ? FOR UPDATE', [idToBytes(workspaceId)]);
  return row ? toRecord(row) : null;
}

/** Stores the fields that the operator can change; the row must be locked by `findWorkspaceForUpdate`. */
export async function updateWorkspace(
  workspaceId: string,
  record: Pick<
    WorkspaceRecord,
    'alertEmail' | 'webhooksEnabled' | 'sendingBlocked' | 'emailsPerMinute' | 'emailsPerHour' | 'emailsPerDay'
  >,
): Promise<void> {
  await execute(
    `UPDATE workspaces SET alert_email = ?, webhooks_enabled = ?, sending_blocked = ?, emails_per_minute = ?,
       emails_per_hour = ?, emails_per_day = ?, emails_held_until = NULL WHERE id = ?`,
    [
      record.alertEmail === null ? null : Buffer.from(record.alertEmail),
      record.webhooksEnabled,
      record.sendingBlocked,
      record.emailsPerMinute,
      record.emailsPerHour,
      record.emailsPerDay,
      idToBytes(workspaceId),
    ],
  );
}

export function toRecord(row: Row): WorkspaceRecord {
  return {
    id: idFromBytes('workspace', row.id),
    name: row.name,
    country: row.country,
    alertEmail: row.alert_email?.toString() ?? null,
    webhooksEnabled: row.webhooks_enabled === 1,
    sendingBlocked: row.sending_blocked === 1,
    emailsPerMinute: row.emails_per_minute,
    emailsPerHour: row.emails_per_hour,
    emailsPerDay: row.emails_per_day,
    createdAt: row.created_at,
  };
}
