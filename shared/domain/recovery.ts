import { now } from '../clock.ts';
import { listOverdueListWork } from '../db/system/contact-list-copies.ts';
import { findOldestUnnumbered } from '../db/system/events.ts';
import { copyContacts } from '../jobs/copy-contacts.ts';
import { countContacts } from '../jobs/count-contacts.ts';
import { count } from '../metrics.ts';
import { enqueueAll } from '../queue.ts';
import * as emails from './email-admission.ts';
import { wakeRelay } from './events.ts';
import * as texts from './sms-delivery.ts';
import * as deliveries from './webhook-deliveries.ts';

// Per kind of work and run. What is not reached is reached by one of the next runs, longest due first.
const batchSize = 500;
/** A job that is merely waiting for its turn is not yet missed. */
const graceMs = 2_000;
/** From then on the job that Redis has is not trusted to run: it gets another beside it, and one more after twice the time. */
const distrustMs = 60_000;

/**
 * Makes the jobs that should be in Redis and are not: those of rows that are overdue (a lost wake-up, a flushed
 * Redis, a dead worker), and those of parked rows whose time has come near. Adding one that is there already
 * changes nothing, because ids name the attempt. Returns how many rows it looked at.
 */
export async function sweep(): Promise<number> {
  const time = now();
  const overdueBefore = new Date(time.getTime() - graceMs);
  let seen = 0;
  seen += await emails.sweep(overdueBefore, (dueAt) => suffixOf(dueAt, now()));
  seen += await texts.sweep(overdueBefore, (dueAt) => suffixOf(dueAt, now()));
  seen += await deliveries.wakeLost(overdueBefore, (dueAt) => suffixOf(dueAt, time));
  seen += await deliveries.letInParked();
  seen += await deliveries.wakeSettlements();
  seen += await wakeListWork(overdueBefore, time);
  const oldestEvent = await findOldestUnnumbered();
  if (oldestEvent && oldestEvent < overdueBefore) wakeRelay();
  count('sweep_runs');
  return seen;
}

/**
 * A job is named after the claim that it leads to, as whoever woke it first did. A job under that name may be one that a
 * dead worker holds or that failed for good, so long overdue rows get jobs under further names: the claim keeps all but
 * one of them from doing anything (design rule 4).
 */
function suffixOf(dueAt: Date, time: Date): string {
  const overdueMs = time.getTime() - dueAt.getTime();
  // Ever more seldom: what an outage keeps waiting for days must not fill Redis with its jobs.
  return overdueMs > distrustMs ? `-${Math.floor(Math.log2(overdueMs / distrustMs))}` : '';
}

async function wakeListWork(overdueBefore: Date, time: Date): Promise<number> {
  const due = await listOverdueListWork(overdueBefore, batchSize);
  const copies = [];
  const counts = [];
  for (const { copyId, workspaceId, dueAt, claims, requestId } of due) {
    const id = `${copyId ?? workspaceId}-${claims + 1}${suffixOf(dueAt, time)}`;
    const wake = { id, at: null, requestId };
    if (copyId === null) counts.push({ ...wake, payload: { workspaceId } });
    else copies.push({ ...wake, payload: { copyId } });
  }
  if (copies.length > 0) await enqueueAll(copyContacts, 'default', copies);
  if (counts.length > 0) await enqueueAll(countContacts, 'default', counts);
  return due.length;
}
