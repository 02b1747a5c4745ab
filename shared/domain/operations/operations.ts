import { now, secondsSince } from '../../common/clock.ts';
import { takeCounts } from '../../common/metrics.ts';
import { findReviewsLeft } from '../../db/senders/senders.system.ts';
import { type BatchTotals, listBatchTotals } from '../../db/sms/batches/totals.system.ts';
import { findFailingCount } from '../../db/webhooks/webhooks.system.ts';
import { addTotals, readGauges, readQueueDepths, readRedisMemory, readTotals } from '../../queue/queue.ts';
import { type GatewayView, list as listGateways } from '../sms/gateways/operator.ts';
import { isNetworkSuspect } from '../webhooks/health/health.ts';
import { findFullCount } from '../work/waiting.ts';
import { oldestDueSeconds } from './oldest-due.ts';

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
  /** Senders that wait for a decision of the operator, and for how long the oldest has. */
  sendersToReview: { senders: number; oldestSeconds: number };
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

/** Returns the overview that an operator looks at first. */
export async function overview(): Promise<Overview> {
  const time = now();
  // Include the counts of this process since its last report.
  addTotals(takeCounts());
  const [
    totals,
    gauges,
    queueDepths,
    redisMemory,
    failing,
    networkSuspect,
    fullWorkspaces,
    due,
    reviews,
    smsBatches,
    gateways,
  ] = await Promise.all([
    readTotals(),
    readGauges(),
    readQueueDepths(),
    readRedisMemory(),
    findFailingCount(),
    isNetworkSuspect(),
    findFullCount(),
    oldestDueSeconds(time),
    findReviewsLeft(),
    listBatchTotals(),
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
    sendersToReview: {
      senders: reviews.senders,
      oldestSeconds: secondsSince(reviews.since, time),
    },
    gateways,
    smsBatches,
    oldestDueSeconds: due,
  };
}
