import { count } from '../../../common/metrics.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import { wakeBefore } from '../../../queue/queue.ts';
import { windowForLater } from '../../../work/admission-window.ts';
import { type Capacity, refiller } from '../../../work/refill.ts';
import { wake } from './lanes.ts';
import { isInOutage, windowOf } from './window.ts';

/** So many deliveries further on, one of them looks for more when it is done. */
const checkEvery = 200;

/**
 * With half of the window taken some of the deliveries that hold it will ask (`more`), so the relay need not. Where nothing
 * is known to be working again (an outage), only the sweep admits deliveries, at its own pace.
 */
const leastFree = { sweep: 0, delivery: 0.2, relay: 0.5 };
type Asker = keyof typeof leastFree;

const refillAll = refiller<never, Asker>({
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
        // After many, more may have come by the time that they are done.
        const staysBehind = !isAll || rows.length > capacity.window / 10;
        return rows.map((row, index) => ({
          ...row,
          webhookId: row.ownerId,
          claims: row.claims + 1,
          dueAt: row.dueAt > at ? row.dueAt : at,
          // Some bring on the next, so that a busy webhook does not wait for the sweep.
          more: staysBehind && (index === rows.length - 1 || (index + 1) % checkEvery === 0),
        }));
      }),
    ),
  mostAtOnce: Number.POSITIVE_INFINITY,
  note: (_lane, admitted) => count('webhook_deliveries_admitted', {}, admitted),
});

/** Lets deliveries of these webhooks into Redis, first due first, as far as there is room. */
export const refill = (webhookIds: string[], by: Asker) => refillAll(null, webhookIds, by);
