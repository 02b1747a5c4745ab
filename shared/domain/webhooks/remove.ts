import { problem } from '../../common/errors.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { settle } from './deliveries/settle.ts';

/** Deletes a webhook. An attempt that finds no webhook sends nothing, and pending deliveries are settled as skipped. */
export async function remove({ workspaceId }: Caller, webhookId: string): Promise<void> {
  if (!(await db.deleteWebhook(workspaceId, webhookId))) throw problem('not_found');
  await db.deleteSettlement(workspaceId, webhookId, 'recover');
  await settle(workspaceId, webhookId);
}
