import { now } from '../../../common/clock.ts';
import { transaction } from '../../../db/client.ts';
import * as system from '../../../db/webhooks/deliveries/deliveries.system.ts';
import * as settlements from '../../../db/webhooks/settlements.system.ts';
import { listServed } from '../../../db/webhooks/webhooks.system.ts';
import { sweeper } from '../../../work/sweep.ts';
import { passedLanes, wake } from './lanes.ts';
import { refill } from './refill.ts';
import { wakeSettlement } from './settle.ts';

const mostSettlements = 100;

const sweepRows = sweeper<never>({
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
    const served = new Set(await listServed(webhookIds));
    const gone = webhookIds.filter((webhookId) => !served.has(webhookId));
    if (gone.length > 0) await transaction(() => settlements.insertSkips(gone, now()));
    return (await refill([...served], 'sweep')).admitted;
  },
});

/** Makes missing jobs of deliveries and settlements again; returns how many rows it looked at. */
export async function sweep(overdueBefore: Date): Promise<number> {
  return (await sweepRows(overdueBefore)) + (await wakeSettlements());
}

/** Makes the jobs of settlements that are not yet done. */
async function wakeSettlements(): Promise<number> {
  const webhookIds = await settlements.listWebhooksToSettle(mostSettlements);
  for (const webhookId of webhookIds) wakeSettlement(webhookId);
  return webhookIds.length;
}
