import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { binaryText, id, int, json, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, type Changed, execute, query } from '../client.ts';

const smsTemplates = table('sms_templates', {
  id: id('template'),
  name: binaryText(),
  description: text().nullable(),
  content: text(),
  sampleData: json<Record<string, unknown>>().nullable(),
  /** Rises with every change; two of them may come within a millisecond. */
  version: int(),
  createdAt: time(),
  updatedAt: time(),
});
const changing = smsTemplates.omit('id', 'createdAt');
export type SmsTemplateRecord = RecordOf<typeof smsTemplates>;

export async function insertSmsTemplate(workspaceId: string, record: SmsTemplateRecord): Promise<void> {
  await query('INSERT INTO sms_templates SET ?', [
    { ...smsTemplates.toRow(record), workspace_id: idToBytes(workspaceId) },
  ]);
}

export async function findSmsTemplate(workspaceId: string, id: string): Promise<SmsTemplateRecord | null> {
  return smsTemplates.toFirst(
    await execute('SELECT * FROM sms_templates WHERE workspace_id = ? AND id = ?', [
      idToBytes(workspaceId),
      idToBytes(id),
    ]),
  );
}

export async function findSmsTemplateByName(
  workspaceId: string,
  name: string,
): Promise<SmsTemplateRecord | null> {
  return smsTemplates.toFirst(
    await execute('SELECT * FROM sms_templates WHERE workspace_id = ? AND name = ?', [
      idToBytes(workspaceId),
      Buffer.from(name),
    ]),
  );
}

/** Locked until the transaction ends. */
export async function findSmsTemplateForUpdate(
  workspaceId: string,
  id: string,
): Promise<SmsTemplateRecord | null> {
  return smsTemplates.toFirst(
    await execute(`SELECT * FROM sms_templates ${byId} WHERE workspace_id = ? AND id = ? FOR UPDATE`, [
      idToBytes(workspaceId),
      idToBytes(id),
    ]),
  );
}

/** How many templates the workspace has. */
export async function findSmsTemplateCount(workspaceId: string): Promise<number> {
  const [row] = await execute<{ templates: number }[]>(
    'SELECT COUNT(*) AS templates FROM sms_templates WHERE workspace_id = ?',
    [idToBytes(workspaceId)],
  );
  return row!.templates;
}

/** Newest first; `beforeId` is the id that the last page ended with. `length`: of its source, in bytes. */
export async function listSmsTemplateLengths(
  workspaceId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<{ id: string; length: number }[]> {
  const place = beforeId === null ? [] : [idToBytes(beforeId)];
  const rows = await query<{ id: Buffer; length: number }[]>(
    `SELECT id, LENGTH(content) AS length FROM sms_templates FORCE INDEX (sms_templates_listed)
     WHERE workspace_id = ? ${beforeId === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...place, limit],
  );
  return rows.map((row) => ({ id: idFromBytes('template', row.id), length: row.length }));
}

/** Newest first. */
export async function listSmsTemplatesByIds(
  workspaceId: string,
  ids: string[],
): Promise<SmsTemplateRecord[]> {
  if (ids.length === 0) return [];
  return smsTemplates.toRecords(
    await query('SELECT * FROM sms_templates WHERE workspace_id = ? AND id IN (?) ORDER BY id DESC', [
      idToBytes(workspaceId),
      ids.map(idToBytes),
    ]),
  );
}

/** All fields, of a record that was locked in this transaction. */
export async function updateSmsTemplate(workspaceId: string, record: SmsTemplateRecord): Promise<void> {
  await query(`UPDATE sms_templates ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    changing.toRow(record),
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
