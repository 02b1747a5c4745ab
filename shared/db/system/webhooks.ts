import { idToBytes } from '../../formats/ids.ts';
import { query } from '../client.ts';
import { toRecord, type WebhookRecord } from '../webhooks.ts';

/**
 * The webhooks of these workspaces. Read afresh for each batch of events: a cached list would let events slip
 * past a webhook that was made a moment ago.
 */
export async function listWebhooksOf(workspaceIds: string[]): Promise<WebhookRecord[]> {
  if (workspaceIds.length === 0) return [];
  const rows = await query('SELECT * FROM webhooks WHERE workspace_id IN (?) ORDER BY id', [
    workspaceIds.map(idToBytes),
  ]);
  return rows.map(toRecord);
}
