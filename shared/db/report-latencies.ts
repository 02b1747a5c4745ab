import { idToBytes } from '../formats/ids.ts';
import { query } from './client.ts';
import type { Channel, Piece } from './report-counts.ts';

export type LatencyRow = {
  channel: Channel;
  kind: string;
  step: 'sent' | 'delivered';
  bucket: number;
  count: number;
};

/** How many messages took how long. */
export async function listLatencies(
  workspaceId: string,
  channels: readonly Channel[],
  pieces: Piece[],
): Promise<LatencyRow[]> {
  const ranges = pieces.map(() => '(span = ? AND start >= ? AND start < ?)').join(' OR ');
  const rows = await query(
    `SELECT channel, kind, step, bucket, SUM(messages) AS messages FROM report_latencies FORCE INDEX (PRIMARY)
     WHERE workspace_id = ? AND (${ranges || 'FALSE'}) AND channel IN (?)
     GROUP BY channel, kind, step, bucket ORDER BY channel, kind, step, bucket`,
    [
      idToBytes(workspaceId),
      ...pieces.flatMap(({ span, from, to }) => [span, Math.max(0, from), Math.max(0, to)]),
      channels,
    ],
  );
  return rows.map((row) => ({
    channel: row.channel,
    kind: row.kind,
    step: row.step,
    bucket: row.bucket,
    count: Number(row.messages),
  }));
}
