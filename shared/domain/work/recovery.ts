import { now } from '../../common/clock.ts';
import { logger } from '../../common/logger.ts';
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
const sweeps: Record<string, (overdueBefore: Date, limit: number) => Promise<number>> = {
  emails: emails.sweep,
  texts: texts.sweep,
  heldTexts: heldTexts.sweep,
  batches: (overdueBefore) => batches.sweep(overdueBefore),
  receipts: (_, limit) => receipts.matchLeft(limit),
  inboundParts: (_, limit) => smsGateways.joinLeft(limit),
  deliveries: deliveries.sweep,
  simulator: (overdueBefore) => simulator.sweep(overdueBefore),
  contactLists: (overdueBefore) => contactLists.sweep(overdueBefore),
  others: dueSweeper([contactLists.counts, emailDomains.checks]),
  events: (overdueBefore) => wakeLateRelay(overdueBefore),
};

/**
 * Makes the jobs that should be in Redis and are not: those of rows that are overdue (a lost wake-up, a flushed
 * Redis, a dead worker), and those of parked rows whose time has come near. Adding one that is there already
 * changes nothing, because ids name the attempt. Returns how many rows it looked at. A kind that fails keeps none of the
 * others from being looked at; the first fault is thrown when all have been.
 */
export async function sweep(): Promise<number> {
  const overdueBefore = new Date(now().getTime() - graceMs);
  let seen = 0;
  const faults: unknown[] = [];
  for (const [kind, one] of Object.entries(sweeps)) {
    try {
      seen += await one(overdueBefore, batchSize);
    } catch (error) {
      logger.warn({ err: error, kind }, 'a kind of work could not be swept');
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  count('sweep_runs');
  return seen;
}

/** Events that wait for their numbers are counted by nobody: they are the relay's. */
async function wakeLateRelay(overdueBefore: Date): Promise<number> {
  const oldestEvent = await findOldestUnnumbered();
  if (oldestEvent && oldestEvent < overdueBefore) wakeRelay();
  return 0;
}
