import { idToBytes } from '../../formats/ids.ts';
import { query } from '../client.ts';

/** Reads the counts of reports: sums of a workspace's messages by hour, day and month. */

export const channels = ['email', 'sms'] as const;
export type Channel = (typeof channels)[number];
/** The column also allows `gateway`, which nothing counts any more. */
export const dimensions = [
  'all',
  'tag',
  'country',
  'key',
  'recipient_domain',
  'sending_domain',
  'route',
  'error',
] as const;
export type Dimension = (typeof dimensions)[number];
export type Span = 'hour' | 'day' | 'month';

/** All messages, and those of each status. */
export const statusMeasures = [
  'accepted',
  'queued',
  'held',
  'sent',
  'delivered',
  'failed',
  'cancelled',
] as const;
/** The counts of messages; a column each. */
export const measures = [
  ...statusMeasures,
  'hard_bounces',
  'soft_bounces',
  'rejected',
  'suppressed',
  'complaints',
  'opened',
  'parts',
  'cost_gbp',
  'cost_eur',
  'spent',
  'spent_parts',
  'spent_gbp',
  'spent_eur',
  'charged',
] as const;
export type Measure = (typeof measures)[number];
export type Counts = Record<Measure, number>;

/** Rows of one span, from one hour on and before another; hours count from 1970. */
export type Piece = { span: Span; from: number; to: number };
/** Rows of one span, by the hours that they begin with. */
export type Starts = { span: Span; starts: number[] };
/** Rows whose counts are added, and rows whose counts are subtracted; no row is in both. */
export type Selection = { added: Starts[]; taken: Starts[] };

/** Sums of one value of a dimension. */
export type ReportRow<Wanted extends Measure> = {
  channel: Channel;
  value: Buffer;
  counts: Record<Wanted, number>;
};

type CountCondition = { sql: string; values: (string | number | Buffer | readonly (string | number)[])[] };

/** Each piece is a range of the primary key. Without FORCE INDEX the optimizer may prefer to read a whole workspace. */
function within(pieces: readonly Piece[]): CountCondition {
  return {
    sql: pieces.map(() => '(span = ? AND start >= ? AND start < ?)').join(' OR ') || 'FALSE',
    values: pieces.flatMap(({ span, from, to }) => [span, Math.max(0, from), Math.max(0, to)]),
  };
}

/**
 * Joins a statement for the added rows and one for the subtracted rows, each with its sign. One sum over both would
 * have to choose the sign for each measure of each row, which takes longer than all the rest.
 */
export function eachSign(
  workspaceId: string,
  { added, taken }: Selection,
  statementOf: (sign: '1e0' | '-1e0', rows: CountCondition) => CountCondition,
): CountCondition {
  const statements = [
    ...(added.length > 0 || taken.length === 0 ? [statementOf('1e0', beginning(workspaceId, added))] : []),
    ...(taken.length > 0 ? [statementOf('-1e0', beginning(workspaceId, taken))] : []),
  ];
  return {
    sql: statements.map(({ sql }) => sql).join(' UNION ALL '),
    values: statements.flatMap(({ values }) => values),
  };
}

/** Names each start: the channel comes after the start in the primary key, so no row of the other channel is read. */
const beginning = (workspaceId: string, rows: readonly Starts[]): CountCondition => ({
  sql: `workspace_id = ? AND (${rows.map(() => '(span = ? AND start IN (?))').join(' OR ') || 'FALSE'})`,
  values: [idToBytes(workspaceId), ...rows.flatMap(({ span, starts }) => [span, starts])],
});

/** The servers sum floating-point numbers in half the time of integers, and such numbers are exact up to 2^53. */
const sumsOf = (wanted: readonly Measure[], sign: '1e0' | '-1e0') =>
  wanted.map((measure) => `SUM(${measure} * ${sign}) AS ${measure}`).join(', ');

type ReportSelection<Wanted extends Measure> = {
  rows: Selection;
  wanted: readonly Wanted[];
  most: Wanted;
  limit: number;
};

/**
 * Returns the sums of each value and channel, largest `most` first. A value is left out where the first of the wanted
 * measures is zero. Each channel is summed over a connection of its own, so that two processors share the work.
 */
export async function listReportRows<Wanted extends Measure>(
  workspaceId: string,
  dimension: Dimension,
  { channels, ...selection }: ReportSelection<Wanted> & { channels: readonly Channel[] },
): Promise<ReportRow<Wanted>[]> {
  const found = await Promise.all(
    channels.map((channel) => listRowsOfChannel(workspaceId, dimension, channel, selection)),
  );
  const { most, limit } = selection;
  const inOrder = (one: ReportRow<Wanted>, other: ReportRow<Wanted>) =>
    other.counts[most] - one.counts[most] || one.value.compare(other.value);
  // Rows that are alike keep the order of the channels.
  return found.length === 1 ? found[0]! : found.flat().toSorted(inOrder).slice(0, limit);
}

async function listRowsOfChannel<Wanted extends Measure>(
  workspaceId: string,
  dimension: Dimension,
  channel: Channel,
  { rows, wanted, most, limit }: ReportSelection<Wanted>,
): Promise<ReportRow<Wanted>[]> {
  const sums = eachSign(workspaceId, rows, (sign, { sql, values }) => ({
    sql: `SELECT value, ${sumsOf(wanted, sign)} FROM report_counts FORCE INDEX (PRIMARY)
          WHERE ${sql} AND dimension = ? AND channel = ? GROUP BY value`,
    values: [...values, dimension, channel],
  }));
  const found = await query<(MeasuresIn<Wanted> & { value: Buffer })[]>(
    `SELECT value, ${sumsOf(wanted, '1e0')} FROM (${sums.sql}) parts
     GROUP BY value HAVING ${wanted[0]} <> 0 ORDER BY ${most} DESC, value LIMIT ?`,
    [...sums.values, limit],
  );
  return found.map((row) => ({ channel, value: row.value, counts: countsOf(wanted, row) }));
}

/**
 * Returns the sums of all messages by stretch: the time between two of the hours in `bounds` in which the messages were
 * accepted. Each row of the pieces must lie within one stretch.
 */
export async function listReportStretches<Wanted extends Measure>(
  workspaceId: string,
  channels: readonly Channel[],
  { bounds, pieces, wanted }: { bounds: number[]; pieces: Piece[]; wanted: readonly Wanted[] },
): Promise<{ stretch: number; channel: Channel; counts: Record<Wanted, number> }[]> {
  const rows = within(pieces);
  const found = await query<(MeasuresIn<Wanted> & { stretch: number; channel: Channel })[]>(
    `SELECT INTERVAL(start, ${bounds.map(Number).join(', ')}) - 1 AS stretch, channel, ${sumsOf(wanted, '1e0')}
     FROM report_counts FORCE INDEX (PRIMARY)
     WHERE workspace_id = ? AND (${rows.sql}) AND dimension = 'all' AND channel IN (?) GROUP BY stretch, channel`,
    [idToBytes(workspaceId), ...rows.values, channels],
  );
  return found.map((row) => ({
    stretch: row.stretch,
    channel: row.channel,
    counts: countsOf(wanted, row),
  }));
}

type MeasuresIn<Wanted extends Measure> = { [One in Wanted]: number };

/**
 * Returns the counts, none below 0: while retention deletes a month, the rows to subtract may still be there when the
 * rows that they are subtracted from are gone.
 */
function countsOf<Wanted extends Measure>(
  wanted: readonly Wanted[],
  row: MeasuresIn<Wanted>,
): Record<Wanted, number> {
  const entries = wanted.map((measure) => [measure, Math.max(0, row[measure])]);
  return Object.fromEntries(entries) as Record<Wanted, number>;
}
