import { idFromBytes, idToBytes } from '../formats/ids.ts';
import type { SuppressionScope, SuppressionSource } from '../schemas/suppressions.ts';
import { listMatching, type Page } from './client/listing.ts';
import { fitting } from './client/outside-text.ts';
import { bytesOf, type Changed, execute, query, type Row } from './client.ts';

export type SuppressionRecord = {
  id: string;
  workspaceId: string;
  /** E.164. Exactly one of number and email is set. */
  number: string | null;
  /** As it was given. */
  email: string | null;
  /** The address as mail servers compare it. */
  emailKey: string | null;
  scope: SuppressionScope;
  source: SuppressionSource;
  reason: string | null;
  createdAt: Date;
};

/** Throws the database's duplicate-key error where the number, or the address with this scope, is there already. */
export async function insertSuppression(workspaceId: string, record: SuppressionRecord): Promise<void> {
  await query('INSERT INTO suppressions SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      number: bytesOf(record.number),
      email: record.email,
      email_key: bytesOf(record.emailKey),
      scope: record.scope,
      source: record.source,
      reason: fitting('suppressions.reason', record.reason),
      created_at: record.createdAt,
    },
  ]);
}

export async function findSuppressionOfNumber(
  workspaceId: string,
  number: string,
): Promise<SuppressionRecord | null> {
  const [row] = await execute('SELECT * FROM suppressions WHERE workspace_id = ? AND number = ?', [
    idToBytes(workspaceId),
    Buffer.from(number),
  ]);
  return row ? toRecord(row) : null;
}

export async function findSuppressionOfEmail(
  workspaceId: string,
  emailKey: string,
  scope: SuppressionScope,
): Promise<SuppressionRecord | null> {
  const [row] = await execute(
    'SELECT * FROM suppressions WHERE workspace_id = ? AND email_key = ? AND scope = ?',
    [idToBytes(workspaceId), Buffer.from(emailKey), scope],
  );
  return row ? toRecord(row) : null;
}

export async function findSuppression(workspaceId: string, id: string): Promise<SuppressionRecord | null> {
  const [row] = await execute('SELECT * FROM suppressions WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(id),
  ]);
  return row ? toRecord(row) : null;
}

/** Which of these E.164 numbers are suppressed. */
export async function listSuppressedNumbers(workspaceId: string, numbers: string[]): Promise<Set<string>> {
  if (numbers.length === 0) return new Set();
  const rows = await query('SELECT number FROM suppressions WHERE workspace_id = ? AND number IN (?)', [
    idToBytes(workspaceId),
    numbers.map((number) => Buffer.from(number)),
  ]);
  return new Set(rows.map((row) => row.number.toString()));
}

type Filter = {
  number?: string | undefined;
  emailKey?: string | undefined;
  scope?: SuppressionScope | undefined;
  source?: SuppressionSource | undefined;
};

/** Newest first. */
export async function listSuppressions(
  workspaceId: string,
  { number, emailKey, scope, source }: Filter,
  page: Page,
): Promise<{ records: SuppressionRecord[]; reached: string | null }> {
  const { rows, reached } = await listMatching(
    workspaceId,
    {
      table: 'suppressions',
      index: 'suppressions_listed',
      filters: [
        ['number', bytesOf(number), 'suppressions_number'],
        ['email_key', bytesOf(emailKey), 'suppressions_email'],
        ['scope', scope, 'suppressions_by_scope'],
        ['source', source, 'suppressions_by_source'],
      ],
    },
    page,
  );
  return { records: rows.map(toRecord), reached: reached && idFromBytes('suppression', reached) };
}

export async function updateSuppressionSource(
  workspaceId: string,
  id: string,
  source: SuppressionSource,
): Promise<void> {
  await execute('UPDATE suppressions SET source = ? WHERE workspace_id = ? AND id = ?', [
    source,
    idToBytes(workspaceId),
    idToBytes(id),
  ]);
}

export async function deleteSuppression(workspaceId: string, id: string): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'DELETE FROM suppressions WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), idToBytes(id)],
  );
  return affectedRows === 1;
}

function toRecord(row: Row): SuppressionRecord {
  return {
    id: idFromBytes('suppression', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    number: row.number?.toString() ?? null,
    email: row.email,
    emailKey: row.email_key?.toString() ?? null,
    scope: row.scope,
    source: row.source,
    reason: row.reason,
    createdAt: row.created_at,
  };
}
