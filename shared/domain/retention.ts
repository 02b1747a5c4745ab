import { now } from '../clock.ts';
import { config } from '../config.ts';
import { deleteCopiesBefore, deleteMembersOfRemoved } from '../db/system/contact-list-copies.ts';
import * as system from '../db/system/events.ts';
import { deleteExpiredRecords } from '../db/system/idempotency.ts';
import { deleteNoncesBefore } from '../db/system/request-nonces.ts';
import { deleteAttemptsBefore, deleteDeliveriesBefore } from '../db/system/webhook-deliveries.ts';
import { expire } from './webhook-deliveries.ts';

const batchSize = 2_000;
// A million rows of each kind in a run, three thousand a second: more than a busy day brings.
const batchesPerRun = 500;
const hourMs = 3_600_000;

/**
 * Deletes events and deliveries that retention has run out for: an hour late, so that a reader who is just in
 * time never meets a hole, and in small batches, so that nobody waits for it. Returns how many rows went.
 */
export async function purge(): Promise<number> {
  // The relay marks where it was only when there is something to number; in a quiet time the last events would stay.
  const { newest } = await system.findFeedBounds();
  await system.insertMark(newest, now());
  const until = new Date(now().getTime() - config.EVENT_RETENTION_DAYS * 24 * hourMs - hourMs);
  const position = await system.findPositionAt(until);
  await expire();
  let gone = 0;
  for (let batch = 0; batch < batchesPerRun; batch += 1) {
    const deliveries = await deleteDeliveriesBefore(until, batchSize);
    const attempts = await deleteAttemptsBefore(until, batchSize);
    const events = position > 0 ? await system.deleteEventsUpTo(position, batchSize) : 0;
    const nonces = await deleteNoncesBefore(now(), batchSize);
    const answers = await deleteExpiredRecords(now(), batchSize);
    const members = await deleteMembersOfRemoved(batchSize);
    const copies = await deleteCopiesBefore(new Date(now().getTime() - hourMs), batchSize);
    gone += deliveries + attempts + events + nonces + answers + members + copies;
    if (Math.max(deliveries, attempts, events, nonces, answers, members, copies) < batchSize) break;
  }
  await system.deleteMarksBefore(new Date(until.getTime() - 24 * hourMs));
  return gone;
}
