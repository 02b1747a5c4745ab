import { now } from '../clock.ts';
import { emailMessages } from '../db/system/email-admission.ts';
import { findOldestUnnumbered } from '../db/system/events.ts';
import { findOldestDueMessages } from '../db/system/message-admission.ts';
import { findOldestUncounted } from '../db/system/report-messages.ts';
import { type BatchTotals, listBatchTotals } from '../db/system/sms-batch-totals.ts';
import { batchWork } from '../db/system/sms-batches.ts';
import { smsMessages } from '../db/system/sms-messages.ts';
import { findOldestDueDeliveries } from '../db/system/webhook-deliveries.ts';
import { findFailingCount } from '../db/system/webhooks.ts';
import { takeCounts } from '../metrics.ts';
import { addTotals, readGauges, readQueueDepths, readRedisMemory, readTotals } from '../queue.ts';
import { emailLanes, smsLanes } from '../schemas/lanes.ts';
import { type GatewayView, list as listGateways } from './sms-gateways/operator.ts';
import { findFullCount } from './waiting.ts';
import { isNetworkSuspect } from './webhook-health.ts';

export type Overview = {
  /** Counters of all processes, by Prometheus name; null while Redis is away. */
  totals: Record<string, number> | null;
  /** What goes on in all processes at this moment, by Prometheus name; null while Redis is away. */
  gauges: Record<string, number> | null;
  /** Null while Redis is away. */
  redisMemory: { usedBytes: number; limitBytes: number } | null;
  /** Active webhooks that fail at present. */
  failingWebhooks: number;
  /** Workspaces that may have little more waiting, or nothing. */
  fullWorkspaces: number;
  /** Carriers of texts, as the processes that hold them say. */
  gateways: GatewayView[];
  /** Batches of texts with something left to do, by status. */
  smsBatches: BatchTotals[];
  /** How long the row that has been due longest has been due, by kind of work; 0 when none is. */
  oldestDueSeconds: Record<string, number>;
  /** Jobs by queue and state; null while Redis is away. */
  queueDepths: { queue: string; state: string; jobs: number }[] | null;
  /** So many hosts of webhooks fail that our own network is the likelier cause; nobody is switched off meanwhile. */
  isNetworkSuspect: boolean;
};

/** What an operator looks at first. The lag comes from MySQL, so it tells the truth without Redis too. */
export async function overview(): Promise<Overview> {
  const time = now();
  // What this process has counted since its last report belongs in as well.
  addTotals(takeCounts());
  const age = (since: Date | null) => (since ? Math.max(0, (time.getTime() - since.getTime()) / 1000) : 0);
  const [
    totals,
    gauges,
    queueDepths,
    redisMemory,
    failing,
    networkSuspect,
    fullWorkspaces,
    deliveries,
    events,
    texts,
    emails,
    batches,
    smsBatches,
    uncounted,
    gateways,
  ] = await Promise.all([
    readTotals(),
    readGauges(),
    readQueueDepths(),
    readRedisMemory(),
    findFailingCount(),
    isNetworkSuspect(),
    findFullCount(),
    findOldestDueDeliveries(time),
    findOldestUnnumbered(),
    Promise.all(smsLanes.map((lane) => findOldestDueMessages(smsMessages, lane, time))),
    Promise.all(emailLanes.map((lane) => findOldestDueMessages(emailMessages, lane, time))),
    findOldestDueMessages(batchWork, 'expand', time),
    listBatchTotals(),
    findOldestUncounted(),
    listGateways(),
  ]);
  return {
    totals,
    gauges,
    queueDepths,
    redisMemory,
    failingWebhooks: failing,
    isNetworkSuspect: networkSuspect,
    fullWorkspaces,
    gateways,
    smsBatches,
    oldestDueSeconds: {
      ...Object.fromEntries(
        emailLanes.map((kind, index) => [`email_${kind}`, age(emails[index]?.admitted ?? null)]),
      ),
      // Of workspaces that may send as much as they like: the others wait because of their limits.
      email_backlog: Math.max(...emails.map(({ parked }) => age(parked))),
      sms: Math.max(...texts.map(({ admitted }) => age(admitted))),
      sms_backlog: Math.max(...texts.map(({ parked }) => age(parked))),
      // Those that still become messages; the others only look whether theirs have come to an end.
      sms_batch: age(batches.admitted),
      sms_batch_backlog: age(batches.parked),
      webhook_delivery: age(deliveries.admitted),
      // Of webhooks in good health: those that fail or are paused wait because of that.
      webhook_backlog: age(deliveries.parked),
      event: age(events),
      // Events that the figures of reports do not have yet.
      report: age(uncounted),
    },
  };
}
