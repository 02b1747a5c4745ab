import { idToBytes } from '../../formats/ids.ts';
import { query, type Row } from '../client.ts';

export const channels = ['email', 'sms'] as const;
export type Channel = (typeof channels)[number];
export const dimensions = [
  'all',
  'tag',
  'country',
  'gateway',
  'key',
  'recipient_domain',
  'sending_domain',
] as const;
export type Dimension = (typeof dimensions)[number];
export type Span = 'hour' | 'day' | 'month';

/** The counts of messages; a column each. */
export const measures = [
  'accepted',
  'queued',
  'held',
  'sent',
  'delivered',
  'failed',
  'cancelled',
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

/** Rows of one span, from an hour on and up to another; hours count from 1970. */
export type Piece = { span: Span; from: number; to: number };
/** Rows that are counted, and rows that are taken off again; no row is in two of them. */
export type Pieces = { added: Piece[]; taken: Piece[] };

/** Sums of one value of a dimension. */
export type ReportRow<Wanted extends Measure> = {
  channel: Channel;
  value: Buffer;
  counts: Record<Wanted, number>;
};

type CountCondition = { sql: string; values: (string | number | Buffer)[] };

/** Each piece is a range of the primary key. By itself the optimizer may prefer to read all of a workspace. */
function within(pieces: readonly Piece[]): CountCondition {
  return {
    sql: pieces.map(() => '(span = ? AND start >= ? AND start < ?)').join(' OR ') || 'FALSE',
    values: pieces.flatMap(({ span, from, to }) => [span, Math.max(0, from), Math.max(0, to)]),
  };
}

/**
 * Rows of a workspace that are read, and their share in each sum: 1, or -1 where they are taken off. The servers sum floating-point numbers
 * in half of the time that whole ones take, and these are exact to 2^53.
 */
export function reading(
  workspaceId: string,
  { added, taken }: Pieces,
): { rows: CountCondition; share: CountCondition } {
  const [read, off] = [within([...added, ...taken]), within(taken)];
  return {
    rows: { sql: `workspace_id = ? AND (${read.sql})`, values: [idToBytes(workspaceId), ...read.values] },
    share:
      taken.length > 0
        ? { sql: `IF(${off.sql}, -1e0, 1e0)`, values: off.values }
        : { sql: '1e0', values: [] },
  };
}

const sumsOf = (wanted: readonly Measure[], share: CountCondition) => ({
  sql: wanted.map((measure) => `SUM(${measure} * ${share.sql}) AS ${measure}`).join(', '),
  values: wanted.flatMap(() => share.values),
});

/**
 * The sums of each value and channel, those with the most of a measure first. A value is left out where the first of the
 * wanted measures is zero.
 */
export async function listReportRows<Wanted extends Measure>(
  workspaceId: string,
  dimension: Dimension,
  {
    channels,
    pieces,
    wanted,
    most,
    limit,
  }: {
    channels: readonly Channel[];
    pieces: Pieces;
    wanted: readonly Wanted[];
    most: Wanted;
    limit: number;
  },
): Promise<ReportRow<Wanted>[]> {
  if (channels.length === 0) return [];
  const { rows, share } = reading(workspaceId, pieces);
  const sums = sumsOf(wanted, share);
  const found = await query(
    `SELECT channel, value, ${sums.sql} FROM report_counts FORCE INDEX (PRIMARY)
     WHERE ${rows.sql} AND dimension = ? AND channel IN (?)
     GROUP BY value, channel HAVING ${wanted[0]} <> 0 ORDER BY ${most} DESC, value, channel LIMIT ?`,
    [...sums.values, ...rows.values, dimension, channels, limit],
  );
  return found.map((row) => ({ channel: row.channel, value: row.value, counts: countsOf(wanted, row) }));
}

/**
 * The same of all messages, by the stretch between two of these hours that they were accepted in. Each row of the pieces
 * must lie within one stretch.
 */
export async function listReportStretches<Wanted extends Measure>(
  workspaceId: string,
  channels: readonly Channel[],
  { bounds, pieces, wanted }: { bounds: number[]; pieces: Piece[]; wanted: readonly Wanted[] },
): Promise<{ stretch: number; channel: Channel; counts: Record<Wanted, number> }[]> {
  const { rows, share } = reading(workspaceId, { added: pieces, taken: [] });
  const found = await query(
    `SELECT INTERVAL(start, ${bounds.map(Number).join(', ')}) - 1 AS stretch, channel, ${sumsOf(wanted, share).sql}
     FROM report_counts FORCE INDEX (PRIMARY)
     WHERE ${rows.sql} AND dimension = 'all' AND channel IN (?) GROUP BY stretch, channel`,
    [...rows.values, channels],
  );
  return found.map((row) => ({
    stretch: Number(row.stretch),
    channel: row.channel,
    counts: countsOf(wanted, row),
  }));
}

/** While retention deletes a month, what is taken off may be there without what it is taken from. */
function countsOf<Wanted extends Measure>(wanted: readonly Wanted[], row: Row): Record<Wanted, number> {
  const entries = wanted.map((measure) => [measure, Math.max(0, Number(row[measure]))]);
  return Object.fromEntries(entries) as Record<Wanted, number>;
}
