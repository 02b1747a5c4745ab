import type { Request, Response } from 'express';
import { readiness } from '../../shared/domain/operations/health.ts';
import { overview } from '../../shared/domain/operations/operations.ts';
import { page } from '../public/page.ts';
import { table } from './table.ts';

/** The first page of operators: the state of the platform, with links to the other pages. */
export async function homePage(_req: Request, res: Response): Promise<void> {
  const [found, { redis, redisFault }] = await Promise.all([overview(), readiness()]);
  const { redisMemory, gauges, gateways, queueDepths, smsBatches } = found;
  const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  const jobs = (state: string) =>
    sum(queueDepths?.filter((one) => one.state === state).map((one) => one.jobs) ?? []);
  const memory = redisMemory
    ? `, ${mb(redisMemory.usedBytes)}${redisMemory.limitBytes > 0 ? ` of ${mb(redisMemory.limitBytes)}` : ''}`
    : '';
  const isUp = redis === 'up';
  const redisState = isUp ? 'up' : redisFault ? `takes no jobs (${redisFault})` : 'away';
  const rows: [string, string | number][] = [
    ['Redis', `${redisState}${memory}${isUp ? '' : ': work is accepted and waits'}`],
    ...(queueDepths
      ? ([
          ['Jobs that wait', jobs('waiting')],
          ['Jobs being processed', jobs('active')],
          ['Jobs for later', jobs('delayed')],
        ] as [string, number][])
      : []),
    ['Processes that wait for the relay', gauges?.['relay_paused'] ?? 0],
    ['Processes that wait for MySQL', gauges?.['database_paused'] ?? 0],
    [
      'Carriers that are up',
      `${gateways.filter(({ state }) => state === 'up').length} of ${gateways.length}`,
    ],
    ['Unfinished batches of texts', sum(smsBatches.map(({ batches }) => batches))],
    ['Webhooks that fail', found.failingWebhooks],
    [
      'Most hosts of webhooks fail',
      found.isNetworkSuspect ? 'yes: check the network of this platform' : 'no',
    ],
    ['Senders that wait for a decision', found.sendersToReview.senders],
    ['Workspaces that are full, or almost', found.fullWorkspaces],
  ];
  const due = Object.entries(found.oldestDueSeconds)
    .filter(([, seconds]) => seconds >= 1)
    .toSorted(([, one], [, other]) => other - one)
    .map(([work, seconds]): [string, string] => [work, `${Math.round(seconds)} s`]);
  const main = `<h1>Operations</h1>
<ul>
<li><a href="/ops/queues">Queues</a>: the jobs in Redis</li>
<li><a href="/ops/gateways">SMS gateways</a>: the carriers of texts</li>
<li><a href="/ops/metrics">Metrics</a>: all figures, for Prometheus</li>
<li><a href="/docs/guides/alarms">Alarms</a>: which values need action, and what to do</li>
</ul>
<h2>Now</h2>
${table(['Figure', 'Now'], rows)}
<h2>Work that is due</h2>
${due.length > 0 ? table(['Work', 'The oldest has been due for'], due) : '<p>Nothing has been due for a second.</p>'}`;
  res.type('html').send(page({ title: 'Operations', main }));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
