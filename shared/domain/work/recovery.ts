import { now } from '../../common/clock.ts';
import { isolated } from '../../common/isolated.ts';
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

/** A row must be overdue for this long before its job counts as lost: the job may merely be waiting for its turn. */
const graceMs = 2_000;
// The most rows of a kind of work in one run, longest due first. The next runs reach the other rows.
const batchSize = 500;

/**
 * The sweep of each kind of due work. A sweep finds rows that should have a job in Redis and have none, and returns how
 * many rows it has looked at. Emails come first, with one-time codes before all else.
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
  events: wakeLateRelay,
};

/**
 * Adds the jobs that are missing in Redis: of overdue rows (a lost wake-up, a flushed Redis, a dead worker), and
 * of parked rows that are due soon. A job that is there already stays as it is, because its id names the attempt.
 * Returns how many rows it looked at. A fault of one kind does not stop the others; the first fault is thrown at
 * the end.
 */
export async function sweep(): Promise<number> {
  const overdueBefore = new Date(now().getTime() - graceMs);
  let seen = 0;
  const kinds = isolated('the sweep of one kind of work failed');
  for (const [kind, one] of Object.entries(sweeps))
    seen += (await kinds.run({ kind }, () => one(overdueBefore, batchSize))) ?? 0;
  kinds.end();
  count('sweep_runs');
  return seen;
}

/**
 * Wakes the relay if events wait too long for their numbers. Returns 0, because these events are the relay's to count.
 */
async function wakeLateRelay(overdueBefore: Date): Promise<number> {
  const oldestEvent = await findOldestUnnumbered();
  if (oldestEvent && oldestEvent < overdueBefore) wakeRelay();
  return 0;
}
