import { idToBytes } from '../../formats/ids.ts';
import { keyOfAddress, nextSpelling } from '../../formats/sms/sender-name.ts';
import { execute } from '../client.ts';

/** Whose names: what texts of the workspace were sent from, or what texts to it were sent to. */
export type NamedIn = 'sender' | 'recipient';

const indexes: Record<NamedIn, string> = { sender: 'sms_by_sender', recipient: 'sms_by_recipient' };
const mostSpellings = 8;

/**
 * How texts spell this name. The column compares as bytes, and a name is the same in whatever case, so the index is asked for
 * one spelling after the other: each look jumps over all texts of the spelling before.
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
