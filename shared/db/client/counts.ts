import { type BatchChange, writeBatches } from './batch-counts.ts';
import type { Connection } from './connection.ts';
import { type WaitingChange, writeWaiting } from './waiting-counts.ts';

/** By how much a transaction changes one of the counts that are kept in shards. */
export type CountChange = WaitingChange | BatchChange;

const isOfBatch = (change: CountChange): change is BatchChange => 'batchId' in change;

/**
 * Writes the changes, in the one order that everybody keeps to. It belongs before COMMIT and behind all else: whoever has
 * a row of these waits for nobody else's rows, and others wait for the commit alone.
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
