import type { Request, Response } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { readiness } from '../../shared/domain/operations/health.ts';
import * as operations from '../../shared/domain/operations/operations.ts';
import type { SmsBatchStatus } from '../../shared/schemas/sms/batches.ts';
import { counters, type LabelValues } from './counters.ts';
import { addGateways } from './gateway-figures.ts';
import { addProcesses } from './process-figures.ts';

const prefix = 'messaging_';

/** A cancelled batch is unfinished until its rows and messages are cancelled too. */
const unfinishedBatches: readonly SmsBatchStatus[] = ['scheduled', 'processing', 'paused', 'cancelled'];

const gauges: Record<string, string> = {
  relay_paused: 'Processes that wait for the relay to be usable again',
  database_paused: 'Worker processes that wait for MySQL to be usable again',
  large_body_bytes: 'Bytes of large request bodies that a web process holds in files',
  template_renders_waiting: 'Renders of Liquid that wait for a thread',
  webhook_requests_out: 'Requests to webhooks that have no answer yet, in all processes',
  webhook_deliveries_waiting: 'Deliveries that a process has taken and whose webhook has no slot yet',
};

const ownProcess = new Registry();
let isCollecting = false;

/** Answers with Prometheus text: totals of the whole platform, what is due and waiting, and this web process. */
export async function metricsPage(_req: Request, res: Response): Promise<void> {
  if (!isCollecting) collectDefaultMetrics({ register: ownProcess, prefix: `${prefix}web_` });
  isCollecting = true;
  const [overview, { redis }] = await Promise.all([operations.overview(), readiness()]);
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: prefix + name, help, labelNames, registers: [registry] });
  gauge('redis_up', 'Whether Redis takes jobs').set(redis === 'up' ? 1 : 0);
  if (overview.totals) addCounters(registry, overview.totals);
  if (overview.redisMemory) {
    const { usedBytes, limitBytes } = overview.redisMemory;
    gauge('redis_memory_bytes', 'Memory that Redis uses').set(usedBytes);
    gauge('redis_memory_limit_bytes', 'Memory that Redis may use (maxmemory); 0 is no limit').set(limitBytes);
  }
  gauge(
    'webhook_network_suspect',
    '1: so many hosts of webhooks fail that the network of this platform is the likely cause; no webhook is switched off',
  ).set(overview.isNetworkSuspect ? 1 : 0);
  gauge('webhooks_failing', 'Active webhooks that fail at present').set(overview.failingWebhooks);
  gauge(
    'workspaces_full',
    'Workspaces that have 95 % or more of MAX_STORED_MB or MAX_WAITING_ROWS waiting',
  ).set(overview.fullWorkspaces);
  gauge('senders_to_review', 'Senders that wait for a decision').set(overview.sendersToReview.senders);
  gauge(
    'oldest_sender_to_review_seconds',
    'How long the sender that waits longest has waited for a decision; 0 where none waits',
  ).set(overview.sendersToReview.oldestSeconds);
  addGateways(gauge, overview.gateways);
  const batches = gauge('sms_batches', 'Unfinished batches of texts', ['status']);
  const rows = gauge('sms_batch_rows_waiting', 'Rows of batches that are no message yet', ['status']);
  for (const status of unfinishedBatches) {
    const found = overview.smsBatches.find((one) => one.status === status);
    batches.set({ status }, found?.batches ?? 0);
    rows.set({ status }, found?.waiting ?? 0);
  }
  if (overview.gauges) {
    addProcesses(gauge, overview.gauges);
    for (const [name, help] of Object.entries(gauges)) gauge(name, help).set(overview.gauges[name] ?? 0);
  }
  const due = gauge('oldest_due_seconds', 'How long the work that waits longest has been due', ['work']);
  for (const [work, seconds] of Object.entries(overview.oldestDueSeconds)) due.set({ work }, seconds);
  const depth = gauge('queue_jobs', 'Jobs in Redis', ['queue', 'state']);
  for (const { queue, state, jobs } of overview.queueDepths ?? []) depth.set({ queue, state }, jobs);
  res.type(registry.contentType).send((await registry.metrics()) + (await ownProcess.metrics()));
}

function addCounters(registry: Registry, totals: Record<string, number>): void {
  for (const [name, { help, labels = {}, countedIn = 1 }] of Object.entries(counters)) {
    const labelNames = Object.keys(labels);
    const counter = new Counter({ name: `${prefix}${name}_total`, help, labelNames, registers: [registry] });
    for (const known of labelNames.length > 0 ? knownLabels(labels) : []) counter.inc(known, 0);
    for (const [key, total] of Object.entries(totals)) {
      const [, base, given = ''] = /^([a-z_]+)(?:\{(.*)\})?$/.exec(key) ?? [];
      if (base !== name) continue;
      const own = [...given.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, one, value]) => [one!, value!]);
      if (own.length === labelNames.length) counter.inc(Object.fromEntries(own), total * countedIn);
    }
  }
}

/** Returns each combination of the labels' values; none where some values are not known. */
function knownLabels(labels: Record<string, LabelValues>): Record<string, string>[] {
  let known: Record<string, string>[] = [{}];
  for (const [label, of] of Object.entries(labels)) {
    const values = (typeof of === 'function' ? of() : of) ?? [];
    known = known.flatMap((others) => values.map((value) => ({ ...others, [label]: value })));
  }
  return known;
}
