import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { insertEvents } from '../../../shared/db/events/events.system.ts';
import { make } from '../../../shared/domain/events/events.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { idFromBytes, idToBytes, newId } from '../../../shared/formats/ids.ts';
import { deliverWebhook } from '../../../shared/jobs/deliver-webhook.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { NewWebhook } from '../../../shared/schemas/webhooks/webhooks.ts';
import { forgetRedis } from '../database/database.ts';
import { newUrl } from '../servers/webhook-url.ts';
import { acceptEmail, callerOf } from './accepted-email.ts';
import type { workspace } from './factory.ts';

type Workspace = Awaited<ReturnType<typeof workspace>>;

/** An address where no endpoint ever listens; `makeWebhook` gives each webhook its own URL there. */
export const nowhere = 'http://127.0.0.1:1/';

/** Deletes all deliveries and jobs, because the next test would count the remaining ones. */
export async function forgetDeliveries(): Promise<void> {
  await query('TRUNCATE TABLE webhook_deliveries');
  await forgetRedis();
}

/** Creates a webhook, and returns it as its creator gets it, with its secret. */
export function makeWebhook(
  from: Workspace,
  url: string,
  events = ['email.queued'],
  settings: Record<string, unknown> = {},
) {
  const own = url === nowhere ? newUrl('http://127.0.0.1:1') : url;
  const request = NewWebhook.parse({ url: own, events, ...settings });
  return transaction(() => webhooks.create(callerOf(from), request));
}

/** Returns the deliveries of a webhook as they are stored, oldest first. */
export async function deliveriesOf(webhookId: string) {
  const rows = await query<Record<string, any>[]>(
    'SELECT * FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id',
    [idToBytes(webhookId)],
  );
  return rows.map((row) => ({
    id: idFromBytes('delivery', row['id']),
    eventId: idFromBytes('event', row['event_id']),
    eventType: row['event_type'] as string,
    status: row['status'] as string,
    attempts: row['attempts'] as number,
    claims: row['claims'] as number,
    bodyVersion: row['body_version'] as string | null,
    isHeld: row['lease_token'] !== null,
    createdAt: row['created_at'] as Date,
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

/** Makes a webhook with one delivery of an email.queued event that is due now. `read` returns the stored delivery. */
export async function dueDelivery(
  from: Workspace,
  url: string,
  changes: Record<string, unknown> = {},
  settings: Record<string, unknown> = {},
) {
  const webhook = await makeWebhook(from, url, ['email.queued'], settings);
  const email = await acceptEmail(from, changes);
  await relay.relayAll();
  const read = async () => (await deliveriesOf(webhook.id))[0]!;
  return { webhook, emailId: email.id, id: (await read()).id, read };
}

/** Stores this many events, each of another email, as requests would; no worker is woken. Returns their ids. */
export async function storeEvents(
  { workspaceId }: Workspace,
  count: number,
  dataOf: (index: number) => object = (index) => ({ index }),
): Promise<string[]> {
  const made = Array.from({ length: count }, (_, index) =>
    make('email.queued', { id: newId('email', now()), seq: 1, data: dataOf(index) }, now()),
  );
  for (let start = 0; start < count; start += 1000)
    await insertEvents(made.slice(start, start + 1000).map((event) => ({ workspaceId, event })));
  return made.map(({ id }) => id);
}

/** Counts a webhook's deliveries by state; `inRedis` and `parked` are the pending ones. */
export async function countsOf(webhookId: string) {
  const rows = await query(
    'SELECT status, parked, COUNT(*) AS n FROM webhook_deliveries WHERE webhook_id = ? GROUP BY status, parked',
    [idToBytes(webhookId)],
  );
  const of = (status: string, parked?: number) =>
    rows
      .filter((row) => row['status'] === status && (parked === undefined || row['parked'] === parked))
      .reduce((sum, row) => sum + Number(row['n']), 0);
  return {
    inRedis: of('pending', 0),
    parked: of('pending', 1),
    delivered: of('delivered'),
    failed: of('failed'),
    skipped: of('skipped'),
  };
}

/** Returns the ids of the deliveries in the jobs of these queues, one entry for each time that a job names one. */
export async function deliveriesInJobs(
  queues: string[] = Object.values(deliverWebhook.lanes),
): Promise<string[]> {
  const jobs = await Promise.all(
    queues.map((queue) => queueOf(queue).getJobs(['waiting', 'delayed', 'active', 'prioritized'])),
  );
  return jobs.flat().flatMap(({ data }) => {
    const { deliveryId, others = [] } = deliverWebhook.payload.parse(data);
    return [deliveryId, ...others.map((other) => other.deliveryId)];
  });
}

/** Changes columns of a webhook, as its health, its customer or the operator would. */
export async function alterWebhook(webhookId: string, changes: Record<string, unknown>): Promise<void> {
  await query('UPDATE webhooks SET ? WHERE id = ?', [changes, idToBytes(webhookId)]);
}
