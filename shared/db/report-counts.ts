import { idToBytes } from '../formats/ids.ts';
import { query, type Row } from './client.ts';

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

/** Sums of one value of a dimension. */
export type ReportRow = { channel: Channel; value: Buffer; counts: Counts };

const sums = measures.map((measure) => `SUM(${measure}) AS ${measure}`).join(', ');
const filled = 'HAVING SUM(accepted) <> 0';

function within(workspaceId: string, dimension: Dimension, channels: readonly Channel[], pieces: Piece[]) {
  // Each piece is a range of the primary key. By itself the optimizer may prefer to read all of a workspace.
  const ranges = pieces.map(() => '(dimension = ? AND span = ? AND start >= ? AND start < ?)').join(' OR ');
  return {
    sql: `FROM report_counts FORCE INDEX (PRIMARY)
      WHERE workspace_id = ? AND (${ranges || 'FALSE'}) AND channel IN (?)`,
    values: [
      idToBytes(workspaceId),
      ...pieces.flatMap(({ span, from, to }) => [dimension, span, Math.max(0, from), Math.max(0, to)]),
      channels,
    ],
  };
}

/** The sums of each value and channel, those with the most of a measure first. */
export async function listReportRows(
  workspaceId: string,
  dimension: Dimension,
  {
    channels,
    pieces,
    most,
    limit,
  }: {
    channels: readonly Channel[];
    pieces: Piece[];
    most: Measure;
    limit: number;
  },
): Promise<ReportRow[]> {
  if (channels.length === 0) return [];
  const { sql, values } = within(workspaceId, dimension, channels, pieces);
  const rows = await query(
    `SELECT channel, value, ${sums} ${sql} GROUP BY value, channel ${filled}
     ORDER BY ${most} DESC, value, channel LIMIT ?`,
    [...values, limit],
  );
  return rows.map((row) => ({ channel: row.channel, value: row.value, counts: countsOf(row) }));
}

/** The same of all messages, by the stretch between two of these hours that they were accepted in. */
export async function listReportStretches(
  workspaceId: string,
  channels: readonly Channel[],
  bounds: number[],
): Promise<{ stretch: number; channel: Channel; counts: Counts }[]> {
  const piece: Piece = { span: 'hour', from: bounds[0]!, to: bounds.at(-1)! };
  const { sql, values } = within(workspaceId, 'all', channels, [piece]);
  const rows = await query(
    `SELECT INTERVAL(start, ${bounds.map(Number).join(', ')}) - 1 AS stretch, channel, ${sums} ${sql}
     GROUP BY stretch, channel`,
    values,
  );
  return rows.map((row) => ({
    stretch: Number(row.stretch),
    channel: row.channel,
    counts: countsOf(row),
  }));
}

function countsOf(row: Row): Counts {
  return Object.fromEntries(measures.map((measure) => [measure, Number(row[measure])])) as Counts;
}
