import { idToBytes } from '../../formats/ids.ts';
import { type BatchChange, writeBatches } from './batch-counts.ts';
import { type Connection, send } from './connection.ts';
import { shardFor } from './shards.ts';

/** The change that a transaction makes to the counts of the waiting work of a workspace. */
type WaitingChange = { workspaceId: string; messages: number; bytes: number };

/** The change that a transaction makes to one of the counts that are kept in shards. */
export type CountChange = WaitingChange | BatchChange;

const isOfBatch = (change: CountChange): change is BatchChange => 'batchId' in change;

/**
 * Writes the changes, in the same order in every transaction. Call it last, just before COMMIT: a transaction that has
 * locked count rows then waits for no other rows, and others wait only for its commit.
 */
export async function writeChanges(connection: Connection, changes: readonly CountChange[]): Promise<void> {
  if (changes.length === 0) return;
  await writeWaiting(
    connection,
    changes.filter((change): change is WaitingChange => !isOfBatch(change)),
  );
  const ofBatches = changes.filter(isOfBatch);
  if (ofBatches.length > 0) await writeBatches(connection, ofBatches);
}

const addUp = 'ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages), bytes = bytes + VALUES(bytes)';
const insert = 'INSERT INTO waiting_counts (workspace_id, shard, messages, bytes) VALUES';

async function writeWaiting(connection: Connection, changes: readonly WaitingChange[]): Promise<void> {
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
