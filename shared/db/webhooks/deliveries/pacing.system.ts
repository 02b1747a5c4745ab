import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import type { RecordOf, RowOf } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { webhooks } from '../webhooks.ts';

/** The columns of a webhook that decide how much it may be sent now. */
export const pacing = webhooks.pick(
  'active',
  'autoDisabled',
  'pausedUntil',
  'failingSince',
  'consecutiveFailures',
);
export type Pacing = RecordOf<typeof pacing>;

/** Returns these columns of those of the webhooks that exist. */
export async function listPacings(webhookIds: string[]): Promise<(Pacing & { webhookId: string })[]> {
  const rows = await query<(RowOf<typeof pacing> & { id: Buffer })[]>(
    `SELECT id, ${pacing.columnsOf('webhooks')} FROM webhooks ${byId} WHERE id IN (?)`,
    [webhookIds.map(idToBytes)],
  );
  return rows.map((row) => ({ ...pacing.toRecord(row), webhookId: idFromBytes('webhook', row.id) }));
}
