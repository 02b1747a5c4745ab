import { idFromBytes, idToBytes } from '../../../formats/ids.ts';
import { type RecordOf, type RowOf, table } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { changedAt, webhooks } from '../webhooks.ts';

/** The columns of a webhook that decide how much it may be sent now. */
export const pacing = webhooks.pick(
  'active',
  'autoDisabled',
  'pausedUntil',
  'failingSince',
  'consecutiveFailures',
);
export type Pacing = RecordOf<typeof pacing>;

const states = table('webhooks', {
  ...pacing.fields,
  ...changedAt,
});
export type WebhookState = RecordOf<typeof states>;

/** Returns the states of those of the webhooks that exist. */
export async function listStates(webhookIds: string[]): Promise<(WebhookState & { webhookId: string })[]> {
  const rows = await query<(RowOf<typeof states> & { id: Buffer })[]>(
    `SELECT id, ${states.columnsOf('webhooks')} FROM webhooks ${byId} WHERE id IN (?)`,
    [webhookIds.map(idToBytes)],
  );
  return rows.map((row) => ({ ...states.toRecord(row), webhookId: idFromBytes('webhook', row.id) }));
}
