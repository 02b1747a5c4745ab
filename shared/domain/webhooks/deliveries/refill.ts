import { batcher } from '../../../common/batcher.ts';
import { count } from '../../../common/metrics.ts';
import { outsideTransaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import { wakeBefore } from '../../../queue/queue.ts';
import { windowForLater } from '../../../work/admission-window.ts';
import { type Capacity, refiller } from '../../../work/refill.ts';
import { looksEvery, wake } from './lanes.ts';
import { isInOutage, windowOf } from './window.ts';

/**
 * The part of a window that must be free, by the caller of `refill`. When half of a window is used, some of the
 * admitted deliveries call it (`more`), so the relay need not. In an outage only the sweep admits deliveries, at its
 * own pace.
 */
const leastFree = { sweep: 0, delivery: 0.2, relay: 0.5 };
type Asker = keyof typeof leastFree;

const refillAll = refiller<'default', Asker>({
  table: system.deliveryTable,
  leastFree,
  capacitiesOf: async (_lane, webhookIds, at, by) => {
    const found = await system.listAdmissions(webhookIds);
    return found
      .filter((webhook) => by === 'sweep' || !isInOutage(webhook))
      .map((webhook): Capacity => {
        const window = windowOf(webhook, at);
        const { webhookId: ownerId, admitted } = webhook;
        const free = window - admitted;
        const forLater = windowForLater(window) - admitted;
        return { ownerId, window, admitted, free, forLater, dueBefore: wakeBefore(at) };
      });
  },
  wake: (_lane, groups, at) =>
    wake(
      groups.flatMap(({ capacity, rows, isAll }) => {
        // Behind many deliveries, more may have arrived by the time that these are done.
        const staysBehind = !isAll || rows.length > capacity.window / 10;
        return rows.map((row, index) => ({
          ...row,
          claims: row.claims + 1,
          dueAt: row.dueAt > at ? row.dueAt : at,
          more: staysBehind && (index === rows.length - 1 || (index + 1) % looksEvery === 0),
        }));
      }),
    ),
  mostAtOnce: Number.POSITIVE_INFINITY,
  note: (_lane, admitted) => count('webhook_deliveries_admitted', {}, admitted),
});

/** Admits deliveries of these webhooks into Redis, earliest due first, as far as there is room. */
export const refill = (webhookIds: string[], by: Asker) => refillAll('default', webhookIds, by);

/**
 * Makes the function that refills a webhook, and returns whether its window had no room. One refill runs at a time; the
 * next one takes all webhooks that ask meanwhile, and begins no sooner than `restMs` after this one has begun.
 */
export function refillTogether(by: Asker, restMs = 0): (webhookId: string) => Promise<boolean> {
  const refills = batcher<string, boolean>({
    maxItems: 1_000,
    maxInFlight: 1,
    restMs,
    run: async (webhookIds) => {
      const { full } = await refill([...new Set(webhookIds)], by);
      return webhookIds.map((id) => full.has(id));
    },
  });
  return (webhookId) => outsideTransaction(() => refills(webhookId));
}
