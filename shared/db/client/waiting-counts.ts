import { idToBytes } from '../../formats/ids.ts';
import { type Connection, send } from './connection.ts';
import { shardFor } from './shards.ts';

/** The change that a transaction makes to the counts of the waiting work of a workspace. */
export type WaitingChange = { workspaceId: string; messages: number; bytes: number };

const addUp = 'ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages), bytes = bytes + VALUES(bytes)';
const insert = 'INSERT INTO waiting_counts (workspace_id, shard, messages, bytes) VALUES';

export async function writeWaiting(connection: Connection, changes: readonly WaitingChange[]): Promise<void> {
  const sums = new Map<string, WaitingChange>();
  for (const change of changes) {
    const sum = sums.get(change.workspaceId);
    if (!sum) sums.set(change.workspaceId, { ...change });
    else {
      sum.messages += change.messages;
      sum.bytes += change.bytes;
    }
  }
  const shard = shardFor(connection);
  const rows = [...sums.values()]
    .filter(({ messages, bytes }) => messages !== 0 || bytes !== 0)
    // Ids sort as their bytes do.
    .toSorted((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1))
    .map(({ workspaceId, messages, bytes }) => [idToBytes(workspaceId), shard, messages, bytes]);
  const [first, ...others] = rows;
  if (others.length > 0) await send(connection, false, `${insert} ? ${addUp}`, [rows]);
  else if (first) await send(connection, true, `${insert} (?, ?, ?, ?) ${addUp}`, first);
}
