import { idToBytes } from '../formats/ids.ts';
import type { SuppressionScope, SuppressionSource } from '../schemas/suppressions.ts';
import { binaryText, id, outsideText, text, time } from './client/columns.ts';
import { type ListedPage, listMatching, type Page } from './client/listing.ts';
import { findRow, rowsOf } from './client/rows.ts';
import { type RecordOf, table } from './client/table.ts';
import { bytesOf, execute, query } from './client.ts';

/** The suppression list of a workspace: the numbers and addresses that must not be sent to. */

const suppressions = table('suppressions', {
  id: id('suppression'),
  workspaceId: id('workspace'),
  /** E.164. Exactly one of number and email is set. */
  number: binaryText().nullable(),
  /** The address as it was given. */
  email: text().nullable(),
  /** The address as mail servers compare it. */
  emailKey: binaryText().nullable(),
  scope: text<SuppressionScope>(),
  source: text<SuppressionSource>(),
  reason: outsideText('suppressions.reason').nullable(),
  createdAt: time(),
});
export type SuppressionRecord = RecordOf<typeof suppressions>;

export const {
  /** Throws the database's duplicate-key error where the number, or the address with this scope, is there already. */
  insert: insertSuppression,
  find: findSuppression,
  findForUpdate: findSuppressionForUpdate,
  delete: deleteSuppression,
} = rowsOf(suppressions);

export function findSuppressionOfNumber(
  workspaceId: string,
  number: string,
): Promise<SuppressionRecord | null> {
  return findRow(workspaceId, suppressions, { number });
}

export function findSuppressionOfEmail(
  workspaceId: string,
  emailKey: string,
  scope: SuppressionScope,
): Promise<SuppressionRecord | null> {
  return findRow(workspaceId, suppressions, { emailKey, scope });
}

/** Which of these E.164 numbers are suppressed. */
export async function listSuppressedNumbers(workspaceId: string, numbers: string[]): Promise<Set<string>> {
  if (numbers.length === 0) return new Set();
  const rows = await query<{ number: Buffer }[]>(
    'SELECT number FROM suppressions WHERE workspace_id = ? AND number IN (?)',
    [idToBytes(workspaceId), numbers.map((number) => Buffer.from(number))],
  );
  return new Set(rows.map((row) => row.number.toString()));
}

type SuppressionRowFilter = {
  number?: string | undefined;
  emailKey?: string | undefined;
  scope?: SuppressionScope | undefined;
  source?: SuppressionSource | undefined;
};

/** Newest first. */
export async function listSuppressions(
  workspaceId: string,
  { number, emailKey, scope, source }: SuppressionRowFilter,
  page: Page,
): Promise<ListedPage<SuppressionRecord>> {
  return listMatching(
    workspaceId,
    {
      table: suppressions,
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
