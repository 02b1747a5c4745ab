import { now } from '../../common/clock.ts';
import { orNotFound } from '../../common/errors.ts';
import { findNewestRecordSeq } from '../../db/events/events.ts';
import { updateWebhookResumed } from '../../db/webhooks/settlements.ts';
import * as db from '../../db/webhooks/webhooks.ts';
import type { Event } from '../../schemas/events.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as events from '../events/events.ts';

const message = 'A test of this webhook, sent on request. Nothing has happened to a message.';

/** Sends an event to this webhook alone, whatever it subscribes to and even while it is switched off. */
export async function sendTest({ workspaceId }: Caller, webhookId: string, version: string): Promise<Event> {
  // Lock the webhook, so that two tests at once get different sequence numbers.
  const webhook = orNotFound(await db.findWebhookForUpdate(workspaceId, webhookId));
  // A customer who asks for a test wants it to be sent now.
  await updateWebhookResumed(workspaceId, webhook, now());
  const seq = (await findNewestRecordSeq(workspaceId, webhookId)) + 1;
  const event = events.make('webhook.test', { id: webhookId, seq, data: { id: webhookId, message } }, now());
  await events.record(workspaceId, event);
  return JSON.parse(events.envelope({ ...event, workspaceId }, version));
}
