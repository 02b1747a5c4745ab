import { query } from '../client.ts';
import { type Channel, eachSign, type Selection } from './counts.ts';

type LatencyKey = { channel: Channel; kind: string; step: 'sent' | 'delivered'; bucket: number };
type LatencyIn = LatencyKey & { gateway: Buffer; messages: number };
type LatencyRow = LatencyKey & { gateway: string; count: number };

/** How many messages took how long. */
export async function listLatencies(
  workspaceId: string,
  channels: readonly Channel[],
  rows: Selection,
): Promise<LatencyRow[]> {
  const sums = eachSign(workspaceId, rows, (sign, { sql, values }) => ({
    sql: `SELECT channel, kind, gateway, step, bucket, SUM(messages * ${sign}) AS messages
          FROM report_latencies FORCE INDEX (PRIMARY) WHERE ${sql} AND channel IN (?)
          GROUP BY channel, kind, gateway, step, bucket`,
    values: [...values, channels],
  }));
  const found = await query<LatencyIn[]>(
    `SELECT channel, kind, gateway, step, bucket, SUM(messages) AS messages FROM (${sums.sql}) parts
     GROUP BY channel, kind, gateway, step, bucket HAVING messages > 0 ORDER BY channel, kind, gateway, step, bucket`,
    sums.values,
  );
  return found.map(({ messages, gateway, ...key }) => ({
    ...key,
    gateway: gateway.toString(),
    count: messages,
  }));
}
