import { problem } from '../../common/errors.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { settle } from './deliveries/settle.ts';

/** Its deliveries stop: no attempt is made that finds no webhook, and what is pending is settled as skipped. */
export async function remove({ workspaceId }: Caller, webhookId: string): Promise<void> {
  if (!(await db.deleteWebhook(workspaceId, webhookId))) throw problem('not_found');
  await db.deleteSettlement(workspaceId, webhookId, 'recover');
  await settle(workspaceId, webhookId);
}
