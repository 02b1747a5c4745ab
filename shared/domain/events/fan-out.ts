import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import type { UnnumberedEvent } from '../../db/events/events.system.ts';
import type { NewDelivery } from '../../db/webhooks/deliveries/deliveries.system.ts';
import type { Subscriber } from '../../db/webhooks/webhooks.system.ts';
import { idFromBytes, idToBytes, newUuid } from '../../formats/ids.ts';
import { type DeliveryTurn, looksEvery, wake } from '../webhooks/deliveries/lanes.ts';
import { refillTogether } from '../webhooks/deliveries/refill.ts';
import { isHealthy, isInOutage, windowOf } from '../webhooks/deliveries/window.ts';
import { subscribedTypes } from '../webhooks/legacy.ts';

/** Makes the webhook deliveries of events, for the relay. */

type Fanned = {
  deliveries: NewDelivery[];
  /** Indexes of the deliveries whose job also looks for parked deliveries of its webhook. */
  looking: Set<number>;
  /** Webhooks that had no room, and may have some again by the time that this batch has committed. */
  overflowed: string[];
};

/**
 * Counts how many more jobs a webhook may have in Redis. A webhook with a backlog may have none: its parked deliveries
 * are due earlier, so new deliveries park behind them.
 */
function roomOf(webhook: Subscriber, at: Date) {
  const window = windowOf(webhook, at);
  const claims = isHealthy(webhook, at) ? 0 : 1;
  let admitted = webhook.hasBacklog ? window : webhook.admitted;
  let isOver = false;
  return {
    claims,
    take(): { parked: boolean; more: boolean } {
      if (admitted >= window) {
        isOver = true;
        return { parked: true, more: false };
      }
      admitted += 1;
      // The job of the last delivery that fits also looks for parked deliveries. So do some jobs of the second half, so
      // that the window does not run empty before.
      const more = admitted === window || (admitted > window / 2 && admitted % looksEvery === 0);
      return { parked: false, more };
    },
    isOverflowed: () => isOver && window > 0 && !isInOutage(webhook),
  };
}

type Subscription = {
  webhook: Subscriber;
  id: Buffer;
  types: Set<string>;
  room: ReturnType<typeof roomOf>;
};

const keyOf = (id: Buffer) => id.toString('latin1');

const inbound = 'sms.received';

/** Returns the ids of events of texts that came to a workspace with a webhook for one number only. */
export function asksForNumbers(events: UnnumberedEvent[], subscribers: Subscriber[]): Buffer[] {
  const choosy = subscribers.filter(({ inboundNumber }) => inboundNumber !== null);
  if (choosy.length === 0) return [];
  const workspaces = new Set(choosy.map(({ workspaceId }) => keyOf(idToBytes(workspaceId))));
  return events
    .filter(({ type, workspaceId }) => type === inbound && workspaces.has(keyOf(workspaceId)))
    .map(({ id }) => id);
}

/**
 * Makes the deliveries of these events: to each webhook that subscribes to an event, and of a test event only to the
 * webhook under test. `numbers`: the numbers that texts came to, for the events that `asksForNumbers` returned.
 */
export function fanOut(
  events: UnnumberedEvent[],
  subscribers: Subscriber[],
  at: Date,
  numbers: ReadonlyMap<string, string>,
): Fanned {
  const subscriptions = subscribers.map(
    (webhook): Subscription => ({
      webhook,
      id: idToBytes(webhook.id),
      types: subscribedTypes(webhook),
      room: roomOf(webhook, at),
    }),
  );
  const ofWorkspace = Map.groupBy(subscriptions, ({ webhook }) => keyOf(idToBytes(webhook.workspaceId)));
  const deliveries: NewDelivery[] = [];
  const looking = new Set<number>();
  for (const event of events)
    for (const subscription of ofWorkspace.get(keyOf(event.workspaceId)) ?? []) {
      const isTest = event.type === 'webhook.test';
      if (isTest ? !subscription.id.equals(event.recordId) : !isWanted(event, subscription, numbers))
        continue;
      const { delivery, more } = deliveryOf(event, subscription, isTest, at);
      if (more) looking.add(deliveries.length);
      deliveries.push(delivery);
    }
  return {
    deliveries,
    looking,
    overflowed: subscriptions.filter(({ room }) => room.isOverflowed()).map(({ webhook }) => webhook.id),
  };
}

function isWanted(
  event: UnnumberedEvent,
  { webhook, types }: Subscription,
  numbers: ReadonlyMap<string, string>,
): boolean {
  if (!types.has(event.type)) return false;
  const { inboundNumber } = webhook;
  return (
    inboundNumber === null ||
    (event.type === inbound && numbers.get(event.id.toString('hex')) === inboundNumber)
  );
}

function deliveryOf(
  event: UnnumberedEvent,
  { webhook, id, room }: Subscription,
  isTest: boolean,
  at: Date,
): { delivery: NewDelivery; more: boolean } {
  // A webhook that the service switched off keeps a record of what it missed.
  const isSkipped = webhook.autoDisabled && !isTest;
  const { parked, more } = isSkipped || isTest ? { parked: false, more: false } : room.take();
  const delivery: NewDelivery = {
    id: newUuid(at),
    workspaceId: event.workspaceId,
    webhookId: id,
    eventId: event.id,
    eventType: event.type,
    status: isSkipped ? 'skipped' : 'pending',
    createdAt: at,
    parked,
    claims: isTest ? 0 : room.claims,
    requestId: event.requestId,
  };
  return { delivery, more };
}

function turnOf({ id, webhookId, claims, createdAt, requestId }: NewDelivery, more: boolean): DeliveryTurn {
  return {
    id: idFromBytes('delivery', id),
    ownerId: idFromBytes('webhook', webhookId),
    claims,
    requestId: requestId?.toString() ?? null,
    dueAt: createdAt,
    more,
  };
}

/**
 * Makes the jobs of admitted deliveries, and refills webhooks that may have room again. A failure here is left to the
 * sweep.
 */
export async function admitNext({ deliveries, looking, overflowed }: Fanned): Promise<void> {
  const turns = deliveries.flatMap((delivery, place) =>
    delivery.status === 'pending' && !delivery.parked ? turnOf(delivery, looking.has(place)) : [],
  );
  count('webhook_deliveries_admitted', {}, turns.length);
  count('webhook_deliveries_parked', {}, deliveries.filter(({ parked }) => parked).length);
  await wake(turns);
  try {
    await Promise.all(overflowed.map((webhookId) => refillOne(webhookId)));
  } catch (error) {
    logger.debug({ err: error }, 'waiting deliveries are left to the sweep');
  }
}

const refillOne = refillTogether('relay');
