import { firstUuidAt } from '../../formats/ids.ts';
import { changeRows } from '../client.ts';

/**
 * Deletes up to `limit` emails that were accepted before then, and were not scheduled for later, whatever their outcome.
 * Emails still to be sent stay.
 */
export function deleteEmailsBefore(until: Date, limit: number): Promise<number> {
  // Ids carry the time of creation, so the old ones are the start of the table.
  return changeRows(
    `DELETE FROM emails WHERE id < ? AND status <> 'queued' AND (scheduled_at IS NULL OR scheduled_at < ?)
     ORDER BY id LIMIT ${limit}`,
    [firstUuidAt(until), until],
  );
}
