import { query } from '../../shared/db/client.ts';
import * as relay from '../../shared/domain/relay.ts';
import * as webhooks from '../../shared/domain/webhooks.ts';
import { idFromBytes, idToBytes } from '../../shared/formats/ids.ts';
import { NewWebhook } from '../../shared/schemas/webhooks.ts';
import { transaction } from '../../shared/unit-of-work.ts';
import { acceptEmail, callerOf } from './accepted-email.ts';
import type { workspace } from './factory.ts';

type Workspace = Awaited<ReturnType<typeof workspace>>;

/** A webhook as its creator gets it, with its secret. */
export function makeWebhook(from: Workspace, url: string, events = ['email.queued']) {
  const request = NewWebhook.parse({ url, events });
  return transaction(() => webhooks.create(callerOf(from), request));
}

/** The deliveries of a webhook as they are stored, oldest first. */
export async function deliveriesOf(webhookId: string) {
  const rows = await query('SELECT * FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id', [
    idToBytes(webhookId),
  ]);
  return rows.map((row) => ({
    id: idFromBytes('delivery', row['id']),
    eventId: idFromBytes('event', row['event_id']),
    eventType: row['event_type'] as string,
    status: row['status'] as string,
    attempts: row['attempts'] as number,
    dueAt: row['due_at'] as Date | null,
    parked: row['parked'] === 1,
    completedAt: row['completed_at'] as Date | null,
    attemptedAt: row['attempted_at'] as Date | null,
    durationMs: row['duration_ms'] as number | null,
    responseStatus: row['response_status'] as number | null,
    responseBody: row['response_body'] as string | null,
    error: row['error'] as string | null,
    requestId: (row['request_id'] as Buffer | null)?.toString() ?? null,
  }));
}

/** A webhook with one delivery, of an email.queued event, that is due now. `read` is the delivery as it is stored. */
export async function dueDelivery(from: Workspace, url: string, changes: Record<string, unknown> = {}) {
  const webhook = await makeWebhook(from, url);
  const email = await acceptEmail(from, changes);
  await relay.relayAll();
  const read = async () => (await deliveriesOf(webhook.id))[0]!;
  return { webhook, emailId: email.id, id: (await read()).id, read };
}
