import { portionsOf } from '../../common/portions.ts';
import { idToBytes } from '../../formats/ids.ts';
import { changeRows, hex, literal, query } from '../client.ts';
import {
  type Channel,
  type Counts,
  type Dimension,
  dimensions,
  type Measure,
  measures,
  type Span,
} from './counts.ts';

/** Writes the counts of reports, for the process that counts events and for retention. */

type CountKey = { workspaceId: Buffer; span: Span; start: number; channel: Channel };
export type CountsOfHour = { dimension: Dimension; value: Buffer; counts: Counts };
type CountsAt = CountKey & CountsOfHour;
export type LatencyOfHour = {
  kind: string;
  gateway: string;
  step: 'sent' | 'delivered';
  bucket: number;
  messages: number;
};
type LatencyAt = CountKey & LatencyOfHour;

const atOnce = 1_000;
// Names every dimension, so that the columns after `dimension` in the index can be used as well.
const ofDimensions = `dimension IN (${dimensions.map(literal).join(', ')})`;
const added = (columns: readonly string[]) => columns.map((name) => `${name} = ${name} + VALUES(${name})`);
const textOf = ({ workspaceId, span, start, channel }: CountKey) =>
  `${hex(workspaceId)},'${span}',${start},'${channel}'`;

/** Adds to the rows that exist, and inserts the others. */
export async function addCounts(changes: CountsAt[]): Promise<void> {
  for (const some of portionsOf(changes, atOnce)) {
    const rows = some.map(({ dimension, value, counts, ...place }) => {
      const numbers = measures.map((measure) => counts[measure]).join(',');
      return `(${textOf(place)},'${dimension}',${value.length > 0 ? hex(value) : "''"},${numbers})`;
    });
    await query(
      `INSERT INTO report_counts (workspace_id, span, start, channel, dimension, value, ${measures.join(', ')})
       VALUES ${rows.join(',')} ON DUPLICATE KEY UPDATE ${added(measures).join(', ')}`,
    );
  }
}

export async function addLatencies(changes: LatencyAt[]): Promise<void> {
  for (const some of portionsOf(changes, atOnce)) {
    const rows = some.map(
      ({ kind, gateway, step, bucket, messages, ...place }) =>
        `(${textOf(place)},${literal(kind)},${literal(gateway)},'${step}',${bucket},${messages})`,
    );
    await query(
      `INSERT INTO report_latencies (workspace_id, span, start, channel, kind, gateway, step, bucket, messages)
       VALUES ${rows.join(',')} ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages)`,
    );
  }
}

type CountsRow = Record<Measure, number> & { dimension: Dimension; value: Buffer };
type ReportHour = { workspaceId: string; channel: Channel; start: number };

/** The counts of an hour. */
export async function listCountsOfHour({ workspaceId, channel, start }: ReportHour): Promise<CountsOfHour[]> {
  const rows = await query<CountsRow[]>(
    `SELECT * FROM report_counts FORCE INDEX (PRIMARY)
     WHERE workspace_id = ? AND ${ofDimensions} AND span = 'hour' AND start = ? AND channel = ?`,
    [idToBytes(workspaceId), start, channel],
  );
  return rows.map(({ dimension, value, ...row }) => ({
    dimension,
    value,
    counts: Object.fromEntries(measures.map((measure) => [measure, row[measure]])) as Counts,
  }));
}

export async function listLatenciesOfHour({
  workspaceId,
  channel,
  start,
}: ReportHour): Promise<LatencyOfHour[]> {
  const rows = await query<(Omit<LatencyOfHour, 'gateway'> & { gateway: Buffer })[]>(
    `SELECT kind, gateway, step, bucket, messages FROM report_latencies FORCE INDEX (PRIMARY)
     WHERE workspace_id = ? AND span = 'hour' AND start = ? AND channel = ?`,
    [idToBytes(workspaceId), start, channel],
  );
  return rows.map(({ gateway, ...row }) => ({ ...row, gateway: gateway.toString() }));
}

/** Rebuilds a day from its hours, or a month from its days. */
export async function replaceByParts(
  workspaceId: string,
  channel: Channel,
  { span, start, end }: { span: 'day' | 'month'; start: number; end: number },
): Promise<void> {
  const part = span === 'day' ? 'hour' : 'day';
  const id = idToBytes(workspaceId);
  const sums = (names: readonly string[]) => names.map((name) => `SUM(${name})`).join(', ');
  const keys = {
    report_counts: ['dimension', 'value'],
    report_latencies: ['kind', 'gateway', 'step', 'bucket'],
  };
  for (const [table, key] of Object.entries(keys)) {
    const columns = table === 'report_counts' ? measures : ['messages'];
    await query(
      `DELETE FROM ${table} WHERE workspace_id = ? AND span = ? AND start = ? AND channel = ?
       ${table === 'report_counts' ? `AND ${ofDimensions}` : ''}`,
      [id, span, start, channel],
    );
    await query(
      `INSERT INTO ${table} (workspace_id, span, start, channel, ${key.join(', ')}, ${columns.join(', ')})
       SELECT workspace_id, ?, ?, channel, ${key.join(', ')}, ${sums(columns)} FROM ${table} FORCE INDEX (PRIMARY)
       WHERE workspace_id = ? AND span = ? AND start >= ? AND start < ? AND channel = ?
         ${table === 'report_counts' ? `AND ${ofDimensions}` : ''}
       GROUP BY workspace_id, channel, ${key.join(', ')}`,
      [span, start, id, part, start, end, channel],
    );
  }
}

type NameRow = { workspace_id: Buffer; dimension: Name['dimension']; day: number; name: Buffer };
export type Name = {
  workspaceId: Buffer;
  dimension: 'tag' | 'recipient_domain' | 'error_code';
  day: number;
  name: string;
};

/** The names among these that count under their own name. */
export async function listNames(names: Name[]): Promise<Name[]> {
  if (names.length === 0) return [];
  const rows = await query<NameRow[]>(
    `SELECT * FROM report_names FORCE INDEX (PRIMARY) WHERE (workspace_id, dimension, day, name) IN (${names
      .map((name) => `(${valuesOf(name)})`)
      .join(',')})`,
  );
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    dimension: row.dimension,
    day: row.day,
    name: row.name.toString(),
  }));
}

/** How many names a day has. */
export async function findNameCount({ workspaceId, dimension, day }: Omit<Name, 'name'>): Promise<number> {
  const [row] = await query<{ names: number }[]>(
    'SELECT COUNT(*) AS names FROM report_names WHERE workspace_id = ? AND dimension = ? AND day = ?',
    [workspaceId, dimension, day],
  );
  return row!.names;
}

export async function insertNames(names: Name[]): Promise<void> {
  if (names.length === 0) return;
  await query(
    `INSERT INTO report_names (workspace_id, dimension, day, name) VALUES ${names
      .map((name) => `(${valuesOf(name)})`)
      .join(',')}`,
  );
}

const valuesOf = ({ workspaceId, dimension, day, name }: Name) =>
  `${hex(workspaceId)},'${dimension}',${day},${hex(Buffer.from(name))}`;

/** Deletes a batch of each table's rows of hours before this one; returns the largest number that one table lost. */
export async function deleteReportsBefore(hour: number, limit: number): Promise<number> {
  let most = 0;
  for (const [table, column] of [
    ['report_counts', 'start'],
    ['report_latencies', 'start'],
    ['report_names', 'day'],
  ]) {
    const gone = await changeRows(`DELETE FROM ${table} WHERE ${column} < ? LIMIT ?`, [hour, limit]);
    most = Math.max(most, gone);
  }
  return most;
}
