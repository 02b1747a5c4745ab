import { now } from '../../../common/clock.ts';
import { orNotFound } from '../../../common/errors.ts';
import type { ListedPage, Page } from '../../../db/client/listing.ts';
import * as db from '../../../db/webhooks/deliveries/deliveries.ts';
import { findWebhook, type WebhookRecord } from '../../../db/webhooks/webhooks.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import {
  WebhookAttempt,
  WebhookDelivery,
  type WebhookDeliveryFilter,
  type WebhookDeliveryLog,
} from '../../../schemas/webhooks/deliveries.ts';
import { type CursorPage, mapPage, searchedPage } from '../../requests/keyset-pages.ts';
import { wireOf } from '../../requests/wire.ts';

const maxAttemptsShown = 100;

// A filter without an index is searched in windows of rows, with a few windows for each request, so that every page
// costs about the same.
const windowSize = 1_000;
const windowsPerRequest = 5;

/** Lists deliveries, newest first. A page filtered by both status and type may be short, and still not be the last. */
export async function list(
  caller: Caller,
  webhookId: string,
  { limit, cursor, ...filter }: WebhookDeliveryFilter,
): Promise<CursorPage<WebhookDelivery>> {
  const { workspaceId } = caller;
  const webhook = await webhookOf(workspaceId, webhookId);
  const binding = { workspaceId, listing: `deliveries of ${webhookId}`, filter };
  return mapPage(
    searchedPage(binding, { limit, cursor }, (range) => search(workspaceId, webhookId, filter, range)),
    (records) => records.map((record) => toWire(record, webhook)),
  );
}

async function search(
  workspaceId: string,
  webhookId: string,
  filter: db.DeliveryFilter,
  { limit, before: start }: Page,
): Promise<ListedPage<db.DeliveryRecord>> {
  const isIndexed = filter.status === undefined || filter.eventType === undefined;
  const records: db.DeliveryRecord[] = [];
  let before = start;
  for (let window = 1; ; window += 1) {
    const downTo = isIndexed
      ? null
      : await db.findDeliveryFurtherOn(workspaceId, webhookId, filter, before, windowSize);
    const wanted = limit - records.length;
    records.push(...(await db.listDeliveries(workspaceId, webhookId, filter, { before, downTo }, wanted)));
    if (records.length === limit) return { records, reached: records.at(-1)!.id };
    if (downTo === null || window === windowsPerRequest) return { records, reached: downTo };
    before = downTo;
  }
}

export async function findOne(
  { workspaceId }: Caller,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const webhook = await webhookOf(workspaceId, webhookId);
  const record = orNotFound(await db.findDelivery(workspaceId, webhookId, deliveryId));
  return toWire(record, webhook);
}

/** One delivery with all of its attempts. */
export async function find(
  caller: Caller,
  webhookId: string,
  deliveryId: string,
): Promise<WebhookDeliveryLog> {
  const delivery = await findOne(caller, webhookId, deliveryId);
  const { attempts: number, latestAttempt: latest } = delivery;
  const earlier = await db.listEarlierAttempts(caller.workspaceId, deliveryId, maxAttemptsShown);
  const attemptLog = [
    ...(latest ? [{ number, ...latest }] : []),
    // Between the two reads another attempt may have ended, so that the latest one is now among these too.
    ...earlier
      .filter((one) => one.number < number)
      .map((one) => ({ number: one.number, ...attemptToWire(one) })),
  ];
  return { ...delivery, attemptLog: attemptLog.slice(0, maxAttemptsShown) };
}

async function webhookOf(workspaceId: string, webhookId: string): Promise<WebhookRecord> {
  return orNotFound(await findWebhook(workspaceId, webhookId));
}

function toWire(record: db.DeliveryRecord, { pausedUntil }: WebhookRecord): WebhookDelivery {
  const isComing = record.status === 'pending' && !record.isClaimed;
  // A delivery that is due waits for the end of a pause, or comes at any moment.
  const soonest = Math.max(record.dueAt?.getTime() ?? 0, pausedUntil?.getTime() ?? 0, now().getTime());
  return wireOf(WebhookDelivery, {
    ...record,
    nextAttemptAt: isComing && record.dueAt ? new Date(soonest) : null,
    latestAttempt: record.latestAttempt && attemptToWire(record.latestAttempt),
  });
}

function attemptToWire({ error, ...attempt }: db.DeliveryAttempt): WebhookAttempt {
  return wireOf(WebhookAttempt, { ...attempt, error: error as WebhookAttempt['error'] });
}
