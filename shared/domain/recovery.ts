import { now } from '../clock.ts';
import { config } from '../config.ts';
import type { EmailKind } from '../db/emails.ts';
import * as emails from '../db/system/emails.ts';
import { findOldestUnnumbered } from '../db/system/events.ts';
import * as deliveries from '../db/system/webhook-deliveries.ts';
import { deliverWebhook } from '../jobs/deliver-webhook.ts';
import { sendEmail } from '../jobs/send-email.ts';
import { count } from '../metrics.ts';
import { enqueueAll } from '../queue.ts';
import { wakeRelay } from './events.ts';

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
  seen += await wakeDeliveries(await deliveries.listOverdueDeliveries(overdueBefore, batchSize), false);
  seen += await wakeDeliveries(await deliveries.listParkedDeliveries(near, parkedBatchSize), true);
  const oldestEvent = await findOldestUnnumbered();
  if (oldestEvent && oldestEvent < overdueBefore) wakeRelay();
  count('sweep_runs');
  return seen;
}

/**
 * Names the claim that the job leads to, as whoever woke it first did. A job under that name may be one that a dead
 * worker holds or that failed for good, so long overdue rows get jobs under further names: the claim keeps all but
 * one of them from doing anything (design rule 4).
 */
function jobId(row: { id: string; claims: number; dueAt: Date }): string {
  const overdueMs = now().getTime() - row.dueAt.getTime();
  const name = `${row.id}-${row.claims + 1}`;
  return overdueMs > distrustMs ? `${name}-${Math.floor(overdueMs / distrustMs)}` : name;
}

async function wakeEmails(kind: EmailKind, due: emails.DueEmail[], areParked: boolean): Promise<number> {
  if (due.length === 0) return 0;
  const items = due.map((email) => ({
    payload: { emailId: email.id },
    id: jobId(email),
    at: email.dueAt,
    requestId: email.requestId,
  }));
  const isTaken = await enqueueAll(sendEmail, kind, items);
  // Only now: a row that is marked before its job exists would be missed until it is overdue.
  if (areParked && isTaken) await emails.updateEmailsUnparked(due.map((email) => email.id));
  return due.length;
}

async function wakeDeliveries(due: deliveries.DueDelivery[], areParked: boolean): Promise<number> {
  if (due.length === 0) return 0;
  let areTaken = true;
  for (const lane of ['first', 'retry'] as const) {
    const items = due
      .filter((delivery) => (delivery.attempts === 0) === (lane === 'first'))
      .map((delivery) => ({
        payload: { deliveryId: delivery.id },
        id: jobId(delivery),
        at: delivery.dueAt,
        requestId: delivery.requestId,
      }));
    if (items.length > 0) areTaken = (await enqueueAll(deliverWebhook, lane, items)) && areTaken;
  }
  if (areParked && areTaken) await deliveries.updateDeliveriesUnparked(due.map((delivery) => delivery.id));
  return due.length;
}
