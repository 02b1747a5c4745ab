import { orNotFound } from '../../common/errors.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Webhook } from '../../schemas/webhooks/webhooks.ts';
import { toWire } from './record.ts';

export async function find(caller: Caller, webhookId: string): Promise<Webhook> {
  const record = orNotFound(await db.findWebhook(caller.workspaceId, webhookId));
  return toWire(record);
}

/** Newest first, in one page (API decisions §1). */
export async function list(caller: Caller): Promise<{ data: Webhook[]; nextCursor: null }> {
  return { data: await listAll(caller.workspaceId), nextCursor: null };
}

/** Newest first. */
export async function listAll(workspaceId: string): Promise<Webhook[]> {
  const records = await db.listWebhooks(workspaceId);
  return records.map((record) => toWire(record));
}
