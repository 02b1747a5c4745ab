import { now } from '../clock.ts';
import { config } from '../config.ts';
import type { EmailKind } from '../db/emails.ts';
import { listOverdueCopies } from '../db/system/contact-list-copies.ts';
import * as emails from '../db/system/emails.ts';
import { findOldestUnnumbered } from '../db/system/events.ts';
import { copyContacts } from '../jobs/copy-contacts.ts';
import { sendEmail } from '../jobs/send-email.ts';
import { count } from '../metrics.ts';
import { enqueueAll } from '../queue.ts';
import { wakeRelay } from './events.ts';
import * as deliveries from './webhook-deliveries.ts';

// Per kind of work and run. What is not reached is reached by one of the next runs, longest due first.
const batchSize = 500;
const parkedBatchSize = 2_000;
/** A job that is merely waiting for its turn is not yet missed. */
const graceMs = 2_000;
/** From then on the job that Redis has is not trusted to run: it gets another beside it, once in this time. */
const distrustMs = 60_000;

/**
 * Makes the jobs that should be in Redis and are not: those of rows that are overdue (a lost wake-up, a flushed
 * Redis, a dead worker), and those of parked rows whose time has come near. Adding one that is there already
 * changes nothing, because ids name the attempt. Returns how many rows it looked at.
 */
export async function sweep(): Promise<number> {
  const time = now();
  const overdueBefore = new Date(time.getTime() - graceMs);
  const near = new Date(time.getTime() + config.WAKE_AHEAD_SECONDS * 1000);
  let seen = 0;
  for (const kind of Object.keys(sendEmail.lanes) as EmailKind[]) {
    seen += await wakeEmails(kind, await emails.listOverdueEmails(kind, overdueBefore, batchSize), false);
    seen += await wakeEmails(kind, await emails.listParkedEmails(kind, near, parkedBatchSize), true);
  }
  seen += await deliveries.wakeLost(overdueBefore, (dueAt) => suffixOf(dueAt, time));
  seen += await deliveries.letInParked();
  seen += await deliveries.wakeSettlements();
  seen += await wakeCopies(overdueBefore, time);
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
  return overdueMs > distrustMs ? `-${Math.floor(overdueMs / distrustMs)}` : '';
}

async function wakeEmails(kind: EmailKind, due: emails.DueEmail[], areParked: boolean): Promise<number> {
  if (due.length === 0) return 0;
  const items = due.map((email) => ({
    payload: { emailId: email.id },
    id: `${email.id}-${email.claims + 1}${suffixOf(email.dueAt, now())}`,
    at: email.dueAt,
    requestId: email.requestId,
  }));
  const isTaken = await enqueueAll(sendEmail, kind, items);
  // Only now: a row that is marked before its job exists would be missed until it is overdue.
  if (areParked && isTaken) await emails.updateEmailsUnparked(due.map((email) => email.id));
  return due.length;
}

async function wakeCopies(overdueBefore: Date, time: Date): Promise<number> {
  const due = await listOverdueCopies(overdueBefore, batchSize);
  const items = due.map(({ id, dueAt, claims, requestId }) => ({
    payload: { copyId: id },
    id: `${id}-${claims + 1}${suffixOf(dueAt, time)}`,
    at: null,
    requestId,
  }));
  if (items.length > 0) await enqueueAll(copyContacts, 'default', items);
  return due.length;
}
