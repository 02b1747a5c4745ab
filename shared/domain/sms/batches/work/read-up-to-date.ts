import { problem } from '../../../../common/errors.ts';
import { onOneConnection } from '../../../../db/client.ts';
import { findSmsBatch, type SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';

/**
 * Reads rows or members of a batch, from a server that knows as much of the batch as we do. A connection pool may lead
 * to another server of a cluster, which is behind for a moment: rows and members that are missing there would be left
 * out for good. Throws service_unavailable where the server is behind.
 */
export function readUpToDate<T>(
  { workspaceId, id, rowCount }: Pick<SmsBatchRecord, 'workspaceId' | 'id' | 'rowCount'>,
  read: () => Promise<T>,
): Promise<T> {
  return onOneConnection(async () => {
    const stored = await findSmsBatch(workspaceId, id);
    if (!stored?.startedAt || stored.rowCount < rowCount)
      throw problem('service_unavailable', {
        detail: 'The server of the database is behind',
        retryAfterSeconds: 1,
      });
    return read();
  });
}
