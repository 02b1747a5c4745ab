import { query } from '../client.ts';
import { type Channel, type Pieces, reading } from './counts.ts';

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
  pieces: Pieces,
): Promise<LatencyRow[]> {
  const { rows, share } = reading(workspaceId, pieces);
  const found = await query(
    `SELECT channel, kind, step, bucket, SUM(messages * ${share.sql}) AS messages
     FROM report_latencies FORCE INDEX (PRIMARY) WHERE ${rows.sql} AND channel IN (?)
     GROUP BY channel, kind, step, bucket HAVING messages > 0 ORDER BY channel, kind, step, bucket`,
    [...share.values, ...rows.values, channels],
  );
  return found.map((row) => ({
    channel: row.channel,
    kind: row.kind,
    step: row.step,
    bucket: row.bucket,
    count: Number(row.messages),
  }));
}
