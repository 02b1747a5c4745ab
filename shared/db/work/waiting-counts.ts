import { idToBytes } from '../../formats/ids.ts';
import { changeCount, execute } from '../client.ts';

/**
 * Messages, emails and texts alike, that are accepted and not yet handed over, and the bytes of what is stored for work
 * under way: contents of emails that wait, rows of batches and imports that are not over.
 */
export type Waiting = { messages: number; bytes: number };

const nothing: Waiting = { messages: 0, bytes: 0 };

/**
 * The waiting work of a workspace changes by so much: in the transaction that changes its messages, so that the counts
 * are right whatever dies, and at the end of that, so that nobody waits for them.
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
 * The same, of which nothing changes until the transaction ends; without what the transaction itself adds. It belongs
 * behind all else: everybody who accepts for the workspace waits from here on.
 */
export async function findWaitingForUpdate(workspaceId: string): Promise<Waiting> {
  const id = idToBytes(workspaceId);
  // One row first, which there may not be yet: whoever comes second waits there, and not each for a row of the other's.
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
