import { now } from '../../common/clock.ts';
import { count } from '../../common/metrics.ts';
import { findOldestUnnumbered } from '../../db/events/events.system.ts';
import { dueSweeper } from '../../work/due.ts';
import * as contactLists from '../contact-lists/contact-lists.ts';
import * as emails from '../email/admission/admission.ts';
import * as emailDomains from '../email/domains/domains.ts';
import { wakeRelay } from '../events/events.ts';
import * as simulator from '../simulator/simulator.ts';
import * as batches from '../sms/batches/work/admission.ts';
import * as texts from '../sms/delivery/admission.ts';
import * as smsGateways from '../sms/gateways/gateways.ts';
import * as receipts from '../sms/gateways/receipts.ts';
import * as heldTexts from '../sms/held.ts';
import * as deliveries from '../webhooks/deliveries/sweep.ts';

/** A job that is merely waiting for its turn is not yet missed. */
const graceMs = 2_000;
// Per kind of work and run. Rows that are not reached are reached by one of the next runs, longest due first.
const batchSize = 500;

/**
 * Each kind of work that is due finds its rows that should have a job in Redis and have none, and says how many rows it has
 * looked at. Emails come first, with one-time codes before all else.
 */
const sweeps: ((overdueBefore: Date, limit: number) => Promise<number>)[] = [
  emails.sweep,
  texts.sweep,
  heldTexts.sweep,
  (overdueBefore) => batches.sweep(overdueBefore),
  (_, limit) => receipts.matchLeft(limit),
  (_, limit) => smsGateways.joinLeft(limit),
  deliveries.sweep,
  (overdueBefore) => simulator.sweep(overdueBefore),
  (overdueBefore) => contactLists.sweep(overdueBefore),
  dueSweeper([contactLists.counts, emailDomains.checks]),
];

/**
 * Makes the jobs that should be in Redis and are not: those of rows that are overdue (a lost wake-up, a flushed
 * Redis, a dead worker), and those of parked rows whose time has come near. Adding one that is there already
 * changes nothing, because ids name the attempt. Returns how many rows it looked at.
 */
export async function sweep(): Promise<number> {
  const overdueBefore = new Date(now().getTime() - graceMs);
  let seen = 0;
  for (const one of sweeps) seen += await one(overdueBefore, batchSize);
  const oldestEvent = await findOldestUnnumbered();
  if (oldestEvent && oldestEvent < overdueBefore) wakeRelay();
  count('sweep_runs');
  return seen;
}
