import { idToBytes } from '../../formats/ids.ts';
import { keyOfAddress, nextSpelling } from '../../formats/sms/sender-name.ts';
import { execute } from '../client.ts';

/** The column with the names: senders of texts of the workspace, or recipients of texts to the workspace. */
export type NamedIn = 'sender' | 'recipient';

const indexes: Record<NamedIn, string> = { sender: 'sms_by_sender', recipient: 'sms_by_recipient' };
const mostSpellings = 8;

/**
 * Lists the ways in which texts spell this name. The column compares bytes, but names ignore case, so we look up one
 * spelling after the other in the index: each lookup jumps over all texts of the spelling before.
 */
export async function listSpellings(workspaceId: string, column: NamedIn, name: string): Promise<string[]> {
  const key = keyOfAddress(name);
  const spellings: string[] = [];
  let from = nextSpelling(key, '');
  while (from !== null && spellings.length < mostSpellings) {
    const [row] = await execute<{ name: Buffer }[]>(
      `SELECT ${column} AS name FROM sms_messages FORCE INDEX (${indexes[column]})
       WHERE workspace_id = ? AND ${column} >= ? AND ${column} <= ? ORDER BY ${column} LIMIT 1`,
      [idToBytes(workspaceId), Buffer.from(from), Buffer.from(key)],
    );
    if (!row) break;
    const found = row.name.toString();
    if (keyOfAddress(found) === key) spellings.push(found);
    from = nextSpelling(key, found);
  }
  return spellings;
}
