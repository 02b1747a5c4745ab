import { now } from '../../../common/clock.ts';
import { transaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import * as settlements from '../../../db/webhooks/settlements.system.ts';
import type { WorkKind } from '../../../work/kind.ts';
import { sweeper } from '../../../work/sweep.ts';
import { passedLanes, wake } from './lanes.ts';
import { refill } from './refill.ts';
import { wakeSettlement } from './settle.ts';

const sweep = sweeper({
  table: system.deliveryTable,
  mostLost: 5_000,
  wake: (_lane, lost) => wake(lost),
  // Each lost row gets a job of its own, so rows that still wait in a shared job must not be among them.
  findIsLost: async () => {
    // Read the lanes before the rows: a lane that moves on after that must not seem to have left the rows behind.
    const hasPassed = await passedLanes();
    return (row) => row.isLeft || row.suffix !== '' || hasPassed(row);
  },
  admit: async (_lane, webhookIds) => {
    // Deliveries that wait for a deleted or switched-off webhook are settled, unless it has been switched on meanwhile.
    const served = new Set(await system.listServed(webhookIds));
    const gone = webhookIds.filter((webhookId) => !served.has(webhookId));
    if (gone.length > 0) await transaction(() => settlements.insertSkips(gone, now()));
    return (await refill([...served], 'sweep')).admitted;
  },
});

export const kind: WorkKind = {
  name: 'webhook_delivery',
  tables: [system.deliveryTable],
  sweep,
  // The backlog has only deliveries of healthy webhooks: the others wait because their webhook fails or is paused.
  oldestDue: async (at) => {
    const { admitted, parked } = await system.findOldestDueDeliveries(at);
    return [
      ['webhook_delivery', admitted],
      ['webhook_backlog', parked],
    ];
  },
};

const mostSettlements = 100;

/** Makes the jobs of settlements that are not yet done; returns how many webhooks have some. */
export async function wakeSettlements(): Promise<number> {
  const webhookIds = await settlements.listWebhooksToSettle(mostSettlements);
  for (const webhookId of webhookIds) wakeSettlement(webhookId);
  return webhookIds.length;
}
