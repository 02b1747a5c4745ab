import { idToBytes } from '../../../formats/ids.ts';
import type { RecordOf } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { webhooks } from '../webhooks.ts';

/** The columns of a webhook that decide how much it may be sent now. */
const paces = ['active', 'autoDisabled', 'pausedUntil', 'failingSince', 'consecutiveFailures'] as const;
export const pacing = webhooks.pick(...paces);
export type Pacing = RecordOf<typeof pacing>;

const states = webhooks.pick(...paces, 'id', 'url', 'secretVersion', 'pauseEndedAt');
export type WebhookState = RecordOf<typeof states>;

/** Returns the states of those of the webhooks that exist. */
export async function listStates(webhookIds: string[]): Promise<WebhookState[]> {
  return states.toRecords(
    await query(`SELECT ${states.columns} FROM webhooks ${byId} WHERE id IN (?)`, [
      webhookIds.map(idToBytes),
    ]),
  );
}
