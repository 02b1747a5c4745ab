import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { RowOf } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { admittedOf, findOldestDue } from '../../work/admission.system.ts';
import { type Pacing, pacing } from './pacing.system.ts';
import { deliveryTable } from './table.system.ts';

export type WebhookAdmission = Pacing & {
  webhookId: string /** How many have a job in Redis. */;
  admitted: number;
};

/** How much each of these webhooks has in Redis, and may have; those that are gone are left out. */
export async function listAdmissions(webhookIds: string[]): Promise<WebhookAdmission[]> {
  if (webhookIds.length === 0) return [];
  const count = admittedOf(deliveryTable, null, 'w.id');
  const rows = await query<(RowOf<typeof pacing> & { id: Buffer; admitted: number })[]>(
    `SELECT w.id, ${pacing.columnsOf('w')}, ${count.sql} AS admitted
     FROM webhooks w ${byId} WHERE w.id IN (?)`,
    [...count.values, webhookIds.map(idToBytes)],
  );
  return rows.map((row) => ({
    ...pacing.toRecord(row),
    webhookId: idFromBytes('webhook', row.id),
    admitted: row.admitted,
  }));
}

/**
 * Since when the delivery that waits longest has been due, of those that have a job in Redis and of those that wait for
 * room there though their webhook is in good health; null when there is none.
 */
export function findOldestDueDeliveries(at: Date): Promise<{ admitted: Date | null; parked: Date | null }> {
  return findOldestDue(deliveryTable, null, at, {
    table: 'webhooks',
    mayGoOn: 'o.active = 1 AND o.failing_since IS NULL AND (o.paused_until IS NULL OR o.paused_until <= ?)',
  });
}
