import { idToBytes } from '../../../formats/ids.ts';
import type { RecordOf } from '../../client/table.ts';
import { byId, query } from '../../client.ts';
import { webhooks } from '../webhooks.ts';

/** The columns of a webhook that decide how much it may be sent now. */
const paces = ['active', 'autoDisabled', 'pausedUntil', 'failingSince', 'consecutiveFailures'] as const;
export const pacing = webhooks.pick(...paces);
export type Pacing = RecordOf<typeof pacing>;

const states = webhooks.pick(...paces, 'id', 'workspaceId', 'url', 'secretVersion', 'pauseEndedAt');
type StateRecord = RecordOf<typeof states>;
export type WebhookState = Omit<StateRecord, 'workspaceId'>;

/** Returns the states of those of the webhooks that exist. */
export async function listStates(webhookIds: string[]): Promise<StateRecord[]> {
  return states.toRecords(
    await query(`SELECT ${states.columns} FROM webhooks ${byId} WHERE id IN (?)`, [
      webhookIds.map(idToBytes),
    ]),
  );
}

/** The webhooks among these that exist and have not been switched off by the service. */
export async function listServed(webhookIds: string[]): Promise<string[]> {
  const found = await listStates(webhookIds);
  return found.filter(({ autoDisabled }) => !autoDisabled).map(({ id }) => id);
}
