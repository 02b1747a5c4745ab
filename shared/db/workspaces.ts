import { idFromBytes, idToBytes } from '../formats/ids.ts';
import { execute, query, type Row } from './client.ts';

export type WorkspaceRecord = {
  id: string;
  name: string;
  country: string;
  alertEmail: string | null;
  webhooksEnabled: boolean;
  sendingBlocked: boolean;
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

/** What the operator can change; the row must be locked by `findWorkspaceForUpdate`. */
export async function updateWorkspace(
  workspaceId: string,
  record: Pick<WorkspaceRecord, 'alertEmail' | 'webhooksEnabled' | 'sendingBlocked'>,
): Promise<void> {
  await execute(
    'UPDATE workspaces SET alert_email = ?, webhooks_enabled = ?, sending_blocked = ? WHERE id = ?',
    [
      record.alertEmail === null ? null : Buffer.from(record.alertEmail),
      record.webhooksEnabled,
      record.sendingBlocked,
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
    createdAt: row.created_at,
  };
}
