import { idToBytes } from '../../formats/ids.ts';
import { type Connection, send } from './connection.ts';

/** By how much a transaction changes what a workspace has waiting. */
export type WaitingChange = { workspaceId: string; messages: number; bytes: number };

/** The first is for whoever counts exactly. */
const shards = 32;
const shardOf = new WeakMap<Connection, number>();
let lastShard = Math.floor(Math.random() * shards);

/** Its own for each connection of a process, so that two that commit at once for one workspace wait for each other seldom. */
function shardFor(connection: Connection): number {
  let shard = shardOf.get(connection);
  if (shard === undefined) {
    lastShard = (lastShard % (shards - 1)) + 1;
    shard = lastShard;
    shardOf.set(connection, shard);
  }
  return shard;
}

const addUp = 'ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages), bytes = bytes + VALUES(bytes)';
const insert = 'INSERT INTO waiting_counts (workspace_id, shard, messages, bytes) VALUES';

/**
 * Writes the changes, in the one order that everybody keeps to. It belongs before COMMIT and behind all else: whoever has
 * a row of these waits for nobody else's rows, and others wait for the commit alone.
 */
export async function writeChanges(connection: Connection, changes: readonly WaitingChange[]): Promise<void> {
  if (changes.length === 0) return;
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
