import { type BatchChange, writeBatches } from './batch-counts.ts';
import type { Connection } from './connection.ts';
import { type WaitingChange, writeWaiting } from './waiting-counts.ts';

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
