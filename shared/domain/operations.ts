import { now } from '../clock.ts';
import type { EmailKind } from '../db/emails.ts';
import { findOldestDueEmail } from '../db/system/emails.ts';
import { findOldestUnnumbered } from '../db/system/events.ts';
import { findOldestDueDelivery } from '../db/system/webhook-deliveries.ts';
import { sendEmail } from '../jobs/send-email.ts';
import { takeCounts } from '../metrics.ts';
import { addTotals, readQueueDepths, readTotals } from '../queue.ts';

export type Overview = {
  /** Counters of all processes, by Prometheus name; null while Redis is away. */
  totals: Record<string, number> | null;
  /** How long the row that has been due longest has been due, by kind of work; 0 when none is. */
  oldestDueSeconds: Record<string, number>;
  /** Jobs by queue and state; null while Redis is away. */
  queueDepths: { queue: string; state: string; jobs: number }[] | null;
};

/** What an operator looks at first. The lag comes from MySQL, so it tells the truth without Redis too. */
export async function overview(): Promise<Overview> {
  const time = now();
  // What this process has counted since its last report belongs in as well.
  addTotals(takeCounts());
  const age = (since: Date | null) => (since ? Math.max(0, (time.getTime() - since.getTime()) / 1000) : 0);
  const kinds = Object.keys(sendEmail.lanes) as EmailKind[];
  const [totals, queueDepths, deliveries, events, ...emails] = await Promise.all([
    readTotals(),
    readQueueDepths(),
    findOldestDueDelivery(time),
    findOldestUnnumbered(),
    ...kinds.map((kind) => findOldestDueEmail(kind, time)),
  ]);
  return {
    totals,
    queueDepths,
    oldestDueSeconds: {
      ...Object.fromEntries(kinds.map((kind, index) => [`email_${kind}`, age(emails[index] ?? null)])),
      webhook_delivery: age(deliveries),
      event: age(events),
    },
  };
}
