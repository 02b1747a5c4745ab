import { migrateUp } from '../../../shared/db/client/migrate.ts';
import { query } from '../../../shared/db/client.ts';
import { type Dimension, measures, type Span } from '../../../shared/db/reports/counts.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { endOf, startOf } from '../../../shared/domain/reports/pieces.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startUp } from '../../../shared/lifecycle.ts';
import { numbers } from '../many-rows.ts';
import { serve } from '../serve.ts';

/** Writes the counts of reports straight into their tables, because counting years of events would take days. */
export interface Counted {
  key: string;
}

/** Hours since 1970. `edges`: the days in which a report may begin or end, so that it reads their hours. */
export interface Year {
  from: number;
  to: number;
  edges: number[];
  others: number;
}

type Names = { dimension: Dimension; prefix: string; count: number; channels: readonly ('email' | 'sms')[] };

const dayHours = 24;
const both = ['email', 'sms'] as const;
const startsAtOnce = 20;

/** Each name has one message an hour on every day. */
const busy: Names[] = [
  { dimension: 'tag', prefix: 'tag-', count: 1_000, channels: both },
  { dimension: 'country', prefix: '', count: 240, channels: ['sms'] },
  { dimension: 'route', prefix: '', count: 480, channels: ['sms'] },
  { dimension: 'error', prefix: '', count: 960, channels: ['sms'] },
  { dimension: 'recipient_domain', prefix: 'inbox', count: 500, channels: ['email'] },
  { dimension: 'sending_domain', prefix: 'sender', count: 10, channels: ['email'] },
];
const quiet: Names[] = busy.map((names) => ({ ...names, count: Math.min(20, names.count) }));
const total: Names = { dimension: 'all', prefix: '', count: 1, channels: both };
const latencyBuckets = 60;

/** Makes a workspace with the largest possible year of counts, among others with fewer. */
async function year({ from, to, edges, others }: Year): Promise<Counted> {
  const { id } = await workspaces.create({ name: 'Bench' });
  const { key } = await apiKeys.issue(id);
  const busyId = idToBytes(id);
  const [start, end] = [startOf('month', from), endOf('month', startOf('month', to))];
  const spans = { hour: startsOf('hour', from, to), day: startsOf('day', start, end) };
  const months = startsOf('month', start, end);
  const hoursOfEdges = edges.flatMap((day) => startsOf('hour', day, day + dayHours));
  for (const names of [total, ...busy]) {
    const isTotal = names === total;
    await insertCounts(busyId, names, 'hour', isTotal ? spans.hour : hoursOfEdges);
    await insertCounts(busyId, names, 'day', spans.day);
    await insertCounts(busyId, names, 'month', months);
  }
  await insertLatencies(busyId, 'hour', hoursOfEdges);
  await insertLatencies(busyId, 'day', spans.day);
  await insertLatencies(busyId, 'month', months);
  if (others > 0) await insertOthers(others, { ...spans, month: months });
  await query('ANALYZE TABLE report_counts, report_latencies');
  return { key };
}

/** Makes one workspace, and copies it for the rest. */
async function insertOthers(count: number, starts: Record<Span, number[]>): Promise<void> {
  const ids: Buffer[] = [];
  while (ids.length < count) ids.push(idToBytes((await workspaces.create({ name: 'Bench' })).id));
  const [first, ...rest] = ids;
  await insertCounts(first!, total, 'hour', starts.hour);
  for (const names of [total, ...quiet]) await insertCounts(first!, names, 'day', starts.day);
  for (const names of [total, ...busy]) await insertCounts(first!, names, 'month', starts.month);
  const columns = `span, start, channel, dimension, value, ${measures.join(', ')}`;
  for (const id of rest)
    await query(
      `INSERT INTO report_counts (workspace_id, ${columns}) SELECT ?, ${columns} FROM report_counts
       WHERE workspace_id = ?`,
      [id, first],
    );
}

function startsOf(span: Span, from: number, to: number): number[] {
  const starts: number[] = [];
  for (let start = startOf(span, from); start < to; start = endOf(span, start)) starts.push(start);
  return starts;
}

/** Inserts one message an hour for each name, so a report must show as many messages as it covers hours. */
async function insertCounts(
  id: Buffer,
  { dimension, prefix, count, channels }: Names,
  span: Span,
  starts: number[],
): Promise<void> {
  const value = valueOf(dimension, prefix);
  for (const channel of channels)
    await eachStarts(span, starts, (table) =>
      query(
        `INSERT INTO report_counts (workspace_id, span, start, channel, dimension, value, ${measures.join(', ')})
         SELECT ?, '${span}', start, '${channel}', '${dimension}', ${value}, ${measures.map(() => 'hours').join(', ')}
         FROM ${numbers} JOIN ${table} WHERE n < ? ORDER BY start, n`,
        [id, 0, count],
      ),
    );
}

/**
 * Returns SQL for the n-th value. Countries have two letters, each has two gateways, and each of these two error
 * codes.
 */
function valueOf(dimension: Dimension, prefix: string): string {
  if (dimension === 'all') return "''";
  if (dimension === 'country') return 'CONV(n + 370, 10, 36)';
  if (dimension === 'route') return "CONCAT(CONV(n DIV 2 + 370, 10, 36), ' carrier-', n MOD 2)";
  if (dimension === 'error')
    return "CONCAT(CONV(n DIV 4 + 370, 10, 36), ' carrier-', n MOD 4 DIV 2, ' error-', n MOD 2)";
  return `CONCAT('${prefix}', n)`;
}

async function insertLatencies(id: Buffer, span: Span, starts: number[]): Promise<void> {
  const kinds = [
    ['email', 'transactional'],
    ['email', 'marketing'],
    ['email', 'authentication'],
    ['sms', 'single'],
    ['sms', 'batch'],
  ];
  for (const [channel, kind] of kinds)
    for (const step of ['sent', 'delivered'])
      await eachStarts(span, starts, (table) =>
        query(
          `INSERT INTO report_latencies (workspace_id, span, start, channel, kind, step, bucket, messages)
           SELECT ?, '${span}', start, '${channel}', '${kind}', '${step}', 60 + n, hours
           FROM ${numbers} JOIN ${table} WHERE n < ? ORDER BY start, n`,
          [id, 0, latencyBuckets],
        ),
      );
}

/** Passes the starts on in groups, as a table with the hours of each. */
async function eachStarts(
  span: Span,
  starts: number[],
  insert: (table: string) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < starts.length; first += startsAtOnce) {
    const rows = starts
      .slice(first, first + startsAtOnce)
      .map((start) => `SELECT ${start} AS start, ${endOf(span, start) - start} AS hours`);
    await insert(`(${rows.join(' UNION ALL ')}) starts`);
  }
}

await migrateUp();
await startUp();
serve({ year });
