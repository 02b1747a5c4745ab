import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { EmailFormat } from '../../schemas/email/templates.ts';
import { binaryText, id, int, json, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, type Changed, execute, query } from '../client.ts';

const emailTemplates = table('email_templates', {
  id: id('etemplate'),
  name: binaryText(),
  description: text().nullable(),
  format: text<EmailFormat>(),
  html: text(),
  text: text(),
  sampleData: json<Record<string, unknown>>().nullable(),
  /** Rises with every change; the time of the last one need not. */
  version: int(),
  createdAt: time(),
  updatedAt: time(),
});
const changing = emailTemplates.omit('id', 'createdAt');
export type EmailTemplateRecord = RecordOf<typeof emailTemplates>;

export async function insertEmailTemplate(workspaceId: string, record: EmailTemplateRecord): Promise<void> {
  await query('INSERT INTO email_templates SET ?', [
    { ...emailTemplates.toRow(record), workspace_id: idToBytes(workspaceId) },
  ]);
}

export async function findEmailTemplate(
  workspaceId: string,
  id: string,
): Promise<EmailTemplateRecord | null> {
  return emailTemplates.toFirst(
    await execute('SELECT * FROM email_templates WHERE workspace_id = ? AND id = ?', [
      idToBytes(workspaceId),
      idToBytes(id),
    ]),
  );
}

export async function findEmailTemplateByName(
  workspaceId: string,
  name: string,
): Promise<EmailTemplateRecord | null> {
  return emailTemplates.toFirst(
    await execute('SELECT * FROM email_templates WHERE workspace_id = ? AND name = ?', [
      idToBytes(workspaceId),
      Buffer.from(name),
    ]),
  );
}

/** Locked until the transaction ends. */
export async function findEmailTemplateForUpdate(
  workspaceId: string,
  id: string,
): Promise<EmailTemplateRecord | null> {
  return emailTemplates.toFirst(
    await execute(`SELECT * FROM email_templates ${byId} WHERE workspace_id = ? AND id = ? FOR UPDATE`, [
      idToBytes(workspaceId),
      idToBytes(id),
    ]),
  );
}

/** How many templates the workspace has. */
export async function findEmailTemplateCount(workspaceId: string): Promise<number> {
  const [row] = await execute<{ templates: number }[]>(
    'SELECT COUNT(*) AS templates FROM email_templates WHERE workspace_id = ?',
    [idToBytes(workspaceId)],
  );
  return row!.templates;
}

/** Newest first; `beforeId` is the id that the last page ended with. `length`: of its sources, in bytes. */
export async function listEmailTemplateLengths(
  workspaceId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<{ id: string; length: number }[]> {
  const place = beforeId === null ? [] : [idToBytes(beforeId)];
  const rows = await query<{ id: Buffer; length: number }[]>(
    `SELECT id, LENGTH(html) + LENGTH(text) AS length FROM email_templates FORCE INDEX (email_templates_listed)
     WHERE workspace_id = ? ${beforeId === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...place, limit],
  );
  return rows.map((row) => ({ id: idFromBytes('etemplate', row.id), length: row.length }));
}

/** Newest first. */
export async function listEmailTemplatesByIds(
  workspaceId: string,
  ids: string[],
): Promise<EmailTemplateRecord[]> {
  if (ids.length === 0) return [];
  return emailTemplates.toRecords(
    await query('SELECT * FROM email_templates WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC', [
      idToBytes(workspaceId),
      ids.map(idToBytes),
    ]),
  );
}

/** All fields, of a record that was locked in this transaction. */
export async function updateEmailTemplate(workspaceId: string, record: EmailTemplateRecord): Promise<void> {
  await query(`UPDATE email_templates ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    changing.toRow(record),
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
