import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';

export type SmsTemplateRecord = {
  id: string;
  name: string;
  description: string | null;
  content: string;
  sampleData: Record<string, unknown> | null;
  /** Rises with every change; two of them may come within a millisecond. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
};

export async function insertSmsTemplate(workspaceId: string, record: SmsTemplateRecord): Promise<void> {
  await query('INSERT INTO sms_templates SET ?', [
    {
      ...columnsOf(record),
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      created_at: record.createdAt,
    },
  ]);
}

export async function findSmsTemplate(workspaceId: string, id: string): Promise<SmsTemplateRecord | null> {
  const [row] = await execute('SELECT * FROM sms_templates WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(id),
  ]);
  return row ? toRecord(row) : null;
}

export async function findSmsTemplateByName(
  workspaceId: string,
  name: string,
): Promise<SmsTemplateRecord | null> {
  const [row] = await execute('SELECT * FROM sms_templates WHERE workspace_id = ? AND name = ?', [
    idToBytes(workspaceId),
    Buffer.from(name),
  ]);
  return row ? toRecord(row) : null;
}

/** Locked until the transaction ends. */
export async function findSmsTemplateForUpdate(
  workspaceId: string,
  id: string,
): Promise<SmsTemplateRecord | null> {
  const [row] = await execute(
    `SELECT * FROM sms_templates ${byId} WHERE workspace_id = ? AND id = ? FOR UPDATE`,
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return row ? toRecord(row) : null;
}

/** How many templates the workspace has. */
export async function findSmsTemplateCount(workspaceId: string): Promise<number> {
  const [row] = await execute('SELECT COUNT(*) AS templates FROM sms_templates WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(row!['templates']);
}

/** Newest first; `beforeId` is the id that the last page ended with. `length`: of its source, in bytes. */
export async function listSmsTemplateLengths(
  workspaceId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<{ id: string; length: number }[]> {
  const place = beforeId === null ? [] : [idToBytes(beforeId)];
  const rows = await query(
    `SELECT id, LENGTH(content) AS length FROM sms_templates FORCE INDEX (sms_templates_listed)
     WHERE workspace_id = ? ${beforeId === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...place, limit],
  );
  return rows.map((row) => ({ id: idFromBytes('template', row['id']), length: Number(row['length']) }));
}

/** Newest first. */
export async function listSmsTemplatesByIds(
  workspaceId: string,
  ids: string[],
): Promise<SmsTemplateRecord[]> {
  if (ids.length === 0) return [];
  const rows = await query(
    'SELECT * FROM sms_templates WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC',
    [idToBytes(workspaceId), ids.map(idToBytes)],
  );
  return rows.map(toRecord);
}

/** All fields, of a record that was locked in this transaction. */
export async function updateSmsTemplate(workspaceId: string, record: SmsTemplateRecord): Promise<void> {
  await query(`UPDATE sms_templates ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    columnsOf(record),
    idToBytes(workspaceId),
    idToBytes(record.id),
  ]);
}

export async function deleteSmsTemplate(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM sms_templates WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return affectedRows === 1;
}

function columnsOf(record: SmsTemplateRecord) {
  return {
    name: Buffer.from(record.name),
    description: record.description,
    content: record.content,
    sample_data: record.sampleData && JSON.stringify(record.sampleData),
    version: record.version,
    updated_at: record.updatedAt,
  };
}

function toRecord(row: Row): SmsTemplateRecord {
  return {
    id: idFromBytes('template', row.id),
    name: row.name.toString(),
    description: row.description,
    content: row.content,
    sampleData: row.sample_data === null ? null : JSON.parse(row.sample_data),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
