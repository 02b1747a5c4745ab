import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { EmailFormat } from '../../schemas/email/templates.ts';
import { byId, type Changed, execute, query, type Row } from '../client.ts';

export type EmailTemplateRecord = {
  id: string;
  name: string;
  description: string | null;
  format: EmailFormat;
  html: string;
  text: string;
  sampleData: Record<string, unknown> | null;
  /** Rises with every change; the time of the last one need not. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
};

export async function insertEmailTemplate(workspaceId: string, record: EmailTemplateRecord): Promise<void> {
  await query('INSERT INTO email_templates SET ?', [
    {
      ...columnsOf(record),
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      created_at: record.createdAt,
    },
  ]);
}

export async function findEmailTemplate(
  workspaceId: string,
  id: string,
): Promise<EmailTemplateRecord | null> {
  const [row] = await execute('SELECT * FROM email_templates WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(id),
  ]);
  return row ? toRecord(row) : null;
}

export async function findEmailTemplateByName(
  workspaceId: string,
  name: string,
): Promise<EmailTemplateRecord | null> {
  const [row] = await execute('SELECT * FROM email_templates WHERE workspace_id = ? AND name = ?', [
    idToBytes(workspaceId),
    Buffer.from(name),
  ]);
  return row ? toRecord(row) : null;
}

/** Locked until the transaction ends. */
export async function findEmailTemplateForUpdate(
  workspaceId: string,
  id: string,
): Promise<EmailTemplateRecord | null> {
  const [row] = await execute(
    `SELECT * FROM email_templates ${byId} WHERE workspace_id = ? AND id = ? FOR UPDATE`,
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return row ? toRecord(row) : null;
}

/** How many templates the workspace has. */
export async function findEmailTemplateCount(workspaceId: string): Promise<number> {
  const [row] = await execute('SELECT COUNT(*) AS templates FROM email_templates WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(row!['templates']);
}

/** Newest first; `beforeId` is the id that the last page ended with. `length`: of its sources, in bytes. */
export async function listEmailTemplateLengths(
  workspaceId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<{ id: string; length: number }[]> {
  const place = beforeId === null ? [] : [idToBytes(beforeId)];
  const rows = await query(
    `SELECT id, LENGTH(html) + LENGTH(text) AS length FROM email_templates FORCE INDEX (email_templates_listed)
     WHERE workspace_id = ? ${beforeId === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...place, limit],
  );
  return rows.map((row) => ({ id: idFromBytes('etemplate', row['id']), length: Number(row['length']) }));
}

/** Newest first. */
export async function listEmailTemplatesByIds(
  workspaceId: string,
  ids: string[],
): Promise<EmailTemplateRecord[]> {
  if (ids.length === 0) return [];
  const rows = await query(
    'SELECT * FROM email_templates WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC',
    [idToBytes(workspaceId), ids.map(idToBytes)],
  );
  return rows.map(toRecord);
}

/** All fields, of a record that was locked in this transaction. */
export async function updateEmailTemplate(workspaceId: string, record: EmailTemplateRecord): Promise<void> {
  await query(`UPDATE email_templates ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    columnsOf(record),
    idToBytes(workspaceId),
    idToBytes(record.id),
  ]);
}

export async function deleteEmailTemplate(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM email_templates WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return affectedRows === 1;
}

function columnsOf(record: EmailTemplateRecord) {
  return {
    name: Buffer.from(record.name),
    description: record.description,
    format: record.format,
    html: record.html,
    text: record.text,
    sample_data: record.sampleData && JSON.stringify(record.sampleData),
    version: record.version,
    updated_at: record.updatedAt,
  };
}

function toRecord(row: Row): EmailTemplateRecord {
  return {
    id: idFromBytes('etemplate', row.id),
    name: row.name.toString(),
    description: row.description,
    format: row.format,
    html: row.html,
    text: row.text,
    sampleData: row.sample_data === null ? null : JSON.parse(row.sample_data),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
