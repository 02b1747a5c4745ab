import { idToBytes } from '../../formats/ids.ts';
import { type Connection, send } from './connection.ts';
import { shardFor } from './shards.ts';
import { snake } from './table.ts';

/** The counts of a batch: its rows and messages by status, and the parts and cost (in ten-thousandths) of messages. */
export const batchCounters = [
  'waiting',
  'queued',
  'sent',
  'delivered',
  'failed',
  'cancelled',
  'parts',
  'costGbp',
  'costEur',
] as const;
export type BatchCounter = (typeof batchCounters)[number];
const counters = batchCounters.map(snake);

/** The change that a transaction makes to the counts of a batch. `sentAt`: when one of its messages was handed over. */
export type BatchChange = { ofWorkspace: string; batchId: string; at: Date; sentAt?: Date | null } & Partial<
  Record<BatchCounter, number>
>;

type Sum = { ofWorkspace: string; batchId: string; counts: number[]; at: Date; sentAt: Date | null };

const columns = ['batch_id', 'workspace_id', 'shard', ...counters, 'sent_at', 'changed_at'];
const insert = `INSERT INTO sms_batch_counts (${columns.join(', ')}) VALUES`;
const addUp = `ON DUPLICATE KEY UPDATE ${counters.map((name) => `${name} = ${name} + VALUES(${name})`).join(', ')},
  sent_at = GREATEST(COALESCE(sent_at, VALUES(sent_at)), COALESCE(VALUES(sent_at), sent_at)),
  changed_at = GREATEST(changed_at, VALUES(changed_at))`;
const one = `${insert} (${columns.map(() => '?').join(', ')}) ${addUp}`;

const later = (first: Date | null, other: Date | null) =>
  other && (!first || other > first) ? other : first;

export async function writeBatches(connection: Connection, changes: readonly BatchChange[]): Promise<void> {
  const sums = new Map<string, Sum>();
  for (const { ofWorkspace, batchId, at, sentAt = null, ...change } of changes) {
    let sum = sums.get(batchId);
    if (!sum)
      sums.set(
        batchId,
        (sum = { ofWorkspace, batchId, counts: batchCounters.map(() => 0), at, sentAt: null }),
      );
    batchCounters.forEach((name, index) => {
      sum.counts[index]! += change[name] ?? 0;
    });
    sum.at = later(sum.at, at)!;
    sum.sentAt = later(sum.sentAt, sentAt);
  }
  const shard = shardFor(connection);
  const rows = [...sums.values()]
    .filter(({ counts, sentAt }) => sentAt || counts.some((count) => count !== 0))
    .toSorted((left, right) => (left.batchId < right.batchId ? -1 : 1))
    .map(({ ofWorkspace, batchId, counts, at, sentAt }) => [
      idToBytes(batchId),
      idToBytes(ofWorkspace),
      shard,
      ...counts,
      sentAt,
      at,
    ]);
  const [first, ...others] = rows;
  if (others.length > 0) await send(connection, false, `${insert} ? ${addUp}`, [rows]);
  else if (first) await send(connection, true, one, first);
}
