import { now } from '../../common/clock.ts';
import { count } from '../../common/metrics.ts';
import { afterCommit, transaction } from '../../db/client.ts';
import * as system from '../../db/events/events.system.ts';
import { findCounterForUpdate } from '../../db/server/counters.system.ts';
import { insertDeliveries } from '../../db/webhooks/deliveries/deliveries.system.ts';
import { nextBatch } from './batch.ts';
import { admitNext, asksForNumbers, fanOut } from './fan-out.ts';

/** Numbers every committed event that has no position yet and fans it out (architecture rule 6). Returns how many. */
export async function relayAll(): Promise<number> {
  const following: Promise<void>[] = [];
  let total = 0;
  try {
    for (let isLast = false; !isLast; ) {
      const batch = await relayBatch(following);
      total += batch.relayed;
      isLast = batch.isLast;
    }
  } finally {
    // The next batch does not wait for Redis. Only the end of the job, done or failed, waits for it.
    await Promise.all(following);
  }
  return total;
}

/**
 * Relays one batch. No position is committed before the deliveries of its event, and no delivery is stored twice. The
 * lock on the counter keeps other relays out, so positions become visible in their order and without a gap.
 */
async function relayBatch(following: Promise<void>[]): Promise<{ relayed: number; isLast: boolean }> {
  return transaction(async () => {
    const reached = await findCounterForUpdate('events.position');
    const at = now();
    const { subscribers, isLast, ...batch } = await nextBatch(at);
    const events = inRecordOrder(batch.events);
    if (events.length === 0) return { relayed: 0, isLast };
    const numbers = await system.listInboundNumbers(asksForNumbers(events, subscribers));
    const ids = events.map((event) => event.id);
    const [, fanned] = await Promise.all([
      system.updatePositions(ids, reached),
      // Deliveries are inserted while the server numbers the events. If the numbering fails, deliveries that are
      // committed already are found at the next try.
      (async () => {
        const fanned = fanOut(events, subscribers, at, numbers);
        return { ...fanned, deliveries: await insertDeliveries(fanned.deliveries) };
      })(),
    ]);
    await system.updatePositionReached(reached + events.length, reached, at);
    afterCommit(() => {
      count('events_relayed', {}, events.length);
      following.push(admitNext(fanned));
    });
    return { relayed: events.length, isLast };
  });
}

/**
 * Orders the events of each record by the record's own sequence. Ids follow the clocks of several processes, and may
 * contradict the sequence.
 */
export function inRecordOrder<Event extends { recordId: Buffer; recordSeq: number }>(
  events: Event[],
): Event[] {
  // Most records have one event in a batch. If all have their first event only, nothing can be out of order.
  if (events.every(({ recordSeq }) => recordSeq === 1)) return events;
  const places = Map.groupBy(events.keys(), (place) => events[place]!.recordId.toString('latin1'));
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
