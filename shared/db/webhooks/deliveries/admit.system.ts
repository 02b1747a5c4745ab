import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { RowOf } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { admittedOf, findOldestDue } from '../../work/admission.system.ts';
import { type Pacing, pacing } from './pacing.system.ts';
import { deliveryTable } from './table.system.ts';

type WebhookAdmission = Pacing & {
  webhookId: string;
  /** How many of its deliveries have a job in Redis. */
  admitted: number;
};

/**
 * Returns how many jobs each webhook has in Redis, and the columns that decide how many it may have. Webhooks that are
 * gone are left out.
 */
export async function listAdmissions(webhookIds: string[]): Promise<WebhookAdmission[]> {
  if (webhookIds.length === 0) return [];
  const count = admittedOf(deliveryTable, 'default', 'w.id');
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
 * Returns since when the longest waiting delivery has been due: among those that have a job in Redis, and among those
 * that wait for room there although their webhook is in good health. Null when there is none.
 */
export function findOldestDueDeliveries(at: Date): Promise<{ admitted: Date | null; parked: Date | null }> {
  return findOldestDue(deliveryTable, 'default', at, {
    table: 'webhooks',
    mayGoOn: 'o.active = 1 AND o.failing_since IS NULL AND (o.paused_until IS NULL OR o.paused_until <= ?)',
  });
}
