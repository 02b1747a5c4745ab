import { now } from '../../common/clock.ts';
import { takeCounts } from '../../common/metrics.ts';
import { emailMessages } from '../../db/email/admission.system.ts';
import { findOldestUnnumbered } from '../../db/events/events.system.ts';
import { findOldestUncounted } from '../../db/reports/messages.system.ts';
import { batchWork } from '../../db/sms/batches/batches.system.ts';
import { type BatchTotals, listBatchTotals } from '../../db/sms/batches/totals.system.ts';
import { smsMessages } from '../../db/sms/messages.system.ts';
import { findOldestDueDeliveries } from '../../db/webhooks/deliveries/deliveries.system.ts';
import { findFailingCount } from '../../db/webhooks/webhooks.system.ts';
import { findOldestDueMessages } from '../../db/work/message-admission.system.ts';
import { addTotals, readGauges, readQueueDepths, readRedisMemory, readTotals } from '../../queue/queue.ts';
import { emailLanes, smsLanes } from '../../schemas/lanes.ts';
import { type GatewayView, list as listGateways } from '../sms/gateways/operator.ts';
import { isNetworkSuspect } from '../webhooks/health/health.ts';
import { findFullCount } from '../work/waiting.ts';

type Overview = {
  /** Counters of all processes, by Prometheus name; null while Redis is away. */
  totals: Record<string, number> | null;
  /** The gauges of all processes at this moment, by Prometheus name; null while Redis is away. */
  gauges: Record<string, number> | null;
  /** Null while Redis is away. */
  redisMemory: { usedBytes: number; limitBytes: number } | null;
  /** Active webhooks that fail at present. */
  failingWebhooks: number;
  /** Workspaces whose limit of waiting messages is almost or fully reached. */
  fullWorkspaces: number;
  /** Carriers of texts, as reported by the processes that hold their connections. */
  gateways: GatewayView[];
  /** Batches of texts with something left to do, by status. */
  smsBatches: BatchTotals[];
  /** How long the oldest due row has been due, by kind of work; 0 when no row is due. */
  oldestDueSeconds: Record<string, number>;
  /** Jobs by queue and state; null while Redis is away. */
  queueDepths: { queue: string; state: string; jobs: number }[] | null;
  /** So many webhook hosts fail that our own network is the likelier cause; no webhook is switched off meanwhile. */
  isNetworkSuspect: boolean;
};

/** Returns the overview that an operator looks at first. The lag comes from MySQL, so it is right without Redis too. */
export async function overview(): Promise<Overview> {
  const time = now();
  // Include the counts of this process since its last report.
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
      // Only emails of workspaces without limits: the others wait because of their limits.
      email_backlog: Math.max(...emails.map(({ parked }) => age(parked))),
      sms: Math.max(...texts.map(({ admitted }) => age(admitted))),
      sms_backlog: Math.max(...texts.map(({ parked }) => age(parked))),
      // Batches that still become messages; the others only check whether their messages have come to an end.
      sms_batch: age(batches.admitted),
      sms_batch_backlog: age(batches.parked),
      webhook_delivery: age(deliveries.admitted),
      // Only deliveries of healthy webhooks: the others wait because their webhook fails or is paused.
      webhook_backlog: age(deliveries.parked),
      event: age(events),
      // Events that the figures of reports do not have yet.
      report: age(uncounted),
    },
  };
}
