import { now } from '../clock.ts';
import { config } from '../config.ts';
import { afterCommit, transaction } from '../db/client.ts';
import * as system from '../db/system/events.ts';
import { insertDeliveries, type NewDelivery } from '../db/system/webhook-deliveries.ts';
import { listWebhooksOf } from '../db/system/webhooks.ts';
import type { WebhookRecord } from '../db/webhooks.ts';
import { newId } from '../formats/ids.ts';
import { deliverWebhook } from '../jobs/deliver-webhook.ts';
import { count } from '../metrics.ts';
import { enqueueAll } from '../queue.ts';

/** Numbers every committed event that has no position yet and fans it out (design rule 6). Returns how many. */
export async function relayAll(): Promise<number> {
  let total = 0;
  for (;;) {
    const relayed = await relayBatch();
    total += relayed;
    if (relayed < config.RELAY_BATCH) return total;
  }
}

/**
 * One batch: positions and deliveries commit together. The lock on the counter keeps all others out, so
 * positions become visible in their order and without a gap.
 */
async function relayBatch(): Promise<number> {
  return transaction(async () => {
    const reached = await system.findPositionForUpdate();
    const committed = await system.listUnnumberedEvents(config.RELAY_BATCH);
    if (committed.length === 0) return 0;
    // A full batch may have cut a record's events apart; only then can an earlier one be outside it.
    const missed =
      committed.length === config.RELAY_BATCH ? await system.listUnnumberedBefore(committed) : [];
    const events = inRecordOrder([...committed, ...missed]);
    const at = now();
    await system.updatePositions(
      events.map((event) => event.id),
      reached,
    );
    const webhooks = await listWebhooksOf([...new Set(events.map((event) => event.workspaceId))]);
    const deliveries = fanOut(events, webhooks, at);
    await insertDeliveries(deliveries);
    await system.updatePositionReached(reached + events.length, reached, at);
    afterCommit(() => {
      count('events_relayed', {}, events.length);
      void wake(deliveries);
    });
    return events.length;
  });
}

/** Ids follow the clocks of several processes; where they contradict a record's own sequence, that wins. */
export function inRecordOrder<Event extends { recordKey: string; recordSeq: number }>(
  events: Event[],
): Event[] {
  const places = new Map<string, number[]>();
  events.forEach((event, place) => {
    const list = places.get(event.recordKey);
    if (list) list.push(place);
    else places.set(event.recordKey, [place]);
  });
  const ordered = [...events];
  for (const list of places.values()) {
    if (list.length === 1) continue;
    const sorted = list.map((place) => events[place]!).toSorted((a, b) => a.recordSeq - b.recordSeq);
    list.forEach((place, index) => {
      ordered[place] = sorted[index]!;
    });
  }
  return ordered;
}

function fanOut(events: system.UnnumberedEvent[], webhooks: WebhookRecord[], at: Date): NewDelivery[] {
  const subscriptions = new Map<string, { webhook: WebhookRecord; types: Set<string> }[]>();
  for (const webhook of webhooks) {
    const list = subscriptions.get(webhook.workspaceId) ?? [];
    list.push({ webhook, types: new Set(webhook.events) });
    subscriptions.set(webhook.workspaceId, list);
  }
  return events.flatMap((event) =>
    (subscriptions.get(event.workspaceId) ?? [])
      .filter(({ types }) => types.has(event.type))
      .map(({ webhook }) => ({
        id: newId('delivery', at),
        workspaceId: event.workspaceId,
        webhookId: webhook.id,
        eventId: event.id,
        eventType: event.type,
        // A webhook that the service switched off keeps a record of what it missed.
        status: webhook.autoDisabled ? ('skipped' as const) : ('pending' as const),
        dueAt: webhook.autoDisabled ? null : at,
        createdAt: at,
        requestId: event.requestId,
      })),
  );
}

async function wake(deliveries: NewDelivery[]): Promise<void> {
  const pending = deliveries.filter((delivery) => delivery.status === 'pending');
  if (pending.length === 0) return;
  await enqueueAll(
    deliverWebhook,
    'first',
    pending.map((delivery) => ({
      payload: { deliveryId: delivery.id },
      id: `${delivery.id}-1`,
      at: null,
      requestId: delivery.requestId,
    })),
  );
}
