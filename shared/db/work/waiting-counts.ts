import { idToBytes } from '../../formats/ids.ts';
import { changeCount, execute } from '../client.ts';

/**
 * Accepted messages (emails and texts) that are not yet handed over, and the bytes stored for unfinished work: contents
 * of waiting emails, rows of unfinished batches and imports.
 */
export type Waiting = { messages: number; bytes: number };

const nothing: Waiting = { messages: 0, bytes: 0 };

/**
 * Changes the counts of a workspace in the current transaction, so that they are right even if the process dies.
 * The change is sent at the end of the transaction, so that others do not wait for its locks.
 */
export async function changeWaiting(workspaceId: string, change: Partial<Waiting>): Promise<void> {
  await changeCount({ workspaceId, ...nothing, ...change });
}

export async function findWaiting(workspaceId: string): Promise<Waiting> {
  return sumOf(
    await execute('SELECT messages, bytes FROM waiting_counts WHERE workspace_id = ?', [
      idToBytes(workspaceId),
    ]),
  );
}

/**
 * Returns the counts, locked until the transaction ends, without the changes of the transaction itself. Call it last:
 * from here on every request that accepts messages for the workspace waits.
 */
export async function findWaitingForUpdate(workspaceId: string): Promise<Waiting> {
  const id = idToBytes(workspaceId);
  // First one row, created if missing, so that a second caller waits there. Otherwise two callers could each wait for a
  // row of the other.
  await execute(
    `INSERT INTO waiting_counts (workspace_id, shard, messages, bytes) VALUES (?, 0, 0, 0)
     ON DUPLICATE KEY UPDATE messages = messages + 0`,
    [id],
  );
  return sumOf(
    await execute('SELECT messages, bytes FROM waiting_counts WHERE workspace_id = ? FOR UPDATE', [id]),
  );
}

function sumOf(rows: Waiting[]): Waiting {
  const sum = { ...nothing };
  for (const { messages, bytes } of rows) {
    sum.messages += messages;
    sum.bytes += bytes;
  }
  return sum;
}
