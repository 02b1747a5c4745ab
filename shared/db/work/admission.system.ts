import { byId, changeRows, query } from '../client.ts';
import type { WorkTable } from './table.system.ts';

/**
 * Admission decides which rows have a job in Redis. Admitted rows have parked = 0; each owner has as many of them as it
 * has room for.
 */

const of = ({ name, index }: WorkTable) => `${name} FORCE INDEX (${index})`;
/**
 * Lists the columns to group by: all the first ones of the index, or MariaDB takes more than one step for each group.
 */
const groups = ({ lanes, owner }: WorkTable) =>
  ['status', ...(lanes.column ? [lanes.column] : []), 'parked', owner.name].join(', ');

function condition<Lane extends string>({ waiting, lanes }: WorkTable<Lane>, lane: Lane) {
  return lanes.column
    ? { sql: `status = ? AND ${lanes.column} = ?`, values: [waiting, lane] }
    : { sql: 'status = ?', values: [waiting] };
}

/** Lists the lanes with rows, parked or not. Each group costs one step along the index, however many rows it has. */
export async function listLanes<Lane extends string>(
  table: WorkTable<Lane>,
): Promise<{ lane: Lane; parked: boolean }[]> {
  const { column, order } = table.lanes;
  const columns = [...(column ? [column] : []), 'parked'].join(', ');
  const rows = await query<Record<string, unknown>[]>(
    `SELECT ${columns} FROM ${of(table)} WHERE status = ? GROUP BY status, ${columns}`,
    [table.waiting],
  );
  const found = rows.map((row) => ({
    lane: (column ? row[column] : order[0]) as Lane,
    parked: row['parked'] === 1,
  }));
  return found.toSorted((one, other) => order.indexOf(one.lane) - order.indexOf(other.lane));
}

/**
 * Lists owners with rows of a lane, parked or not, in the order of their ids, each with the time that its first row is
 * due. An owner with a million rows costs one step along the index, as any other.
 */
export async function listOwnersWaiting<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane,
  parked: boolean,
  after: string | null,
  limit: number,
): Promise<{ ownerId: string; dueAt: Date }[]> {
  const { owner } = table;
  const { sql, values } = condition(table, lane);
  const rows = await query<{ owner: Buffer; due: Date }[]>(
    `SELECT ${owner.name} AS owner, MIN(due_at) AS due FROM ${of(table)}
     WHERE ${sql} AND parked = ? AND ${owner.name} > ?
     GROUP BY ${groups(table)} ORDER BY ${groups(table)} LIMIT ?`,
    [...values, parked, after === null ? Buffer.alloc(0) : owner.toBytes(after), limit],
  );
  return rows.map((row) => ({ ownerId: owner.toId(row.owner), dueAt: row.due }));
}

/**
 * Returns SQL for the number of rows of this owner that have a job in Redis. The count is cheap, as there are never
 * many more than allowed.
 */
export function admittedOf<Lane extends string>(table: WorkTable<Lane>, lane: Lane, owner: string) {
  const { sql, values } = condition(table, lane);
  return {
    sql: `(SELECT COUNT(*) FROM ${of(table)} WHERE ${sql} AND parked = 0 AND ${table.owner.name} = ${owner})`,
    values,
  };
}

/** Returns SQL that tells whether this owner has a parked row (one that waits for room) that is due by then. */
export function hasParkedDue<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane,
  owner: string,
  dueBefore: Date,
) {
  const { sql, values } = condition(table, lane);
  return {
    sql: `EXISTS (SELECT 1 FROM ${of(table)}
      WHERE ${sql} AND parked = 1 AND ${table.owner.name} = ${owner} AND due_at <= ?)`,
    values: [...values, dueBefore],
  };
}

type DueRow = {
  id: Buffer;
  owner: Buffer;
  due_at: Date;
  claims: number;
  request_id: Buffer | null;
  is_left: number;
};
export type WaitingRow = {
  id: string;
  ownerId: string;
  dueAt: Date;
  claims: number;
  requestId: string | null;
  /** A worker held the row when its lease ended. */
  isLeft: boolean;
};

/** Lists for each owner the rows that are due first, due by its `dueBefore`, and at most its limit. */
export async function listDueOf<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane,
  parked: boolean,
  owners: { ownerId: string; dueBefore: Date; limit: number }[],
): Promise<WaitingRow[]> {
  if (owners.length === 0) return [];
  const { owner } = table;
  const { sql, values } = condition(table, lane);
  const each = `(SELECT id, ${owner.name} AS owner, due_at, claims, request_id, lease_token IS NOT NULL AS is_left
    FROM ${of(table)} WHERE ${sql} AND parked = ? AND ${owner.name} = ? AND due_at <= ? ORDER BY due_at LIMIT ?)`;
  const rows = await query<DueRow[]>(
    Array<string>(owners.length).fill(each).join(' UNION ALL '),
    owners.flatMap(({ ownerId, dueBefore, limit }) => [
      ...values,
      parked,
      owner.toBytes(ownerId),
      dueBefore,
      limit,
    ]),
  );
  return rows.map((row) => ({
    id: table.key.toId(row.id),
    ownerId: owner.toId(row.owner),
    dueAt: row.due_at,
    claims: row.claims,
    requestId: row.request_id?.toString() ?? null,
    isLeft: row.is_left === 1,
  }));
}

/**
 * Admits parked rows, which then get a job in Redis; returns their number, without rows that another process
 * admits at the same time. `due_at` becomes at least `at`, so that the sweep does not take their jobs for lost.
 */
export function updateAdmitted(table: WorkTable, ids: string[], at: Date): Promise<number> {
  const claim = table.countsAdmission ? 'claims = claims + 1, ' : '';
  return changeRows(
    `UPDATE ${table.name} ${byId} SET parked = 0, ${claim}due_at = GREATEST(due_at, ?)
     WHERE id IN (?) AND status = ? AND parked = 1`,
    [at, ids.map(table.key.toBytes), table.waiting],
  );
}

/**
 * Parks rows again whose jobs could not be put into Redis. Untried rows that are due by `at` get back their old place.
 * A row that is due later keeps its time: the admission has not changed that time, and a fault of our own may have
 * postponed an untried row. A row that a worker has claimed stays as it is.
 */
export async function updateParked(table: WorkTable, ids: string[], at: Date): Promise<void> {
  if (ids.length > 0)
    await query(
      `UPDATE ${table.name} ${byId}
       SET parked = 1, due_at = IF(${table.isUntried} AND due_at <= ?, ${table.waitsSince}, due_at)
       WHERE id IN (?) AND status = ? AND parked = 0 AND lease_token IS NULL`,
      [at, ids.map(table.key.toBytes), table.waiting],
    );
}

/**
 * Returns the oldest due times of a lane, or null: of `admitted` rows, and of `parked` rows whose owner is not
 * blocked. `owners`: their table, and SQL that excludes the blocked ones; `at` takes the place of each `?` in it.
 */
export async function findOldestDue<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane,
  at: Date,
  owners: { table: string; mayGoOn: string },
): Promise<{ admitted: Date | null; parked: Date | null }> {
  const { sql, values } = condition(table, lane);
  const times = owners.mayGoOn.split('?').length - 1;
  const rows = await query<{ parked: number; due: Date }[]>(
    `SELECT parked, MIN(due) AS due FROM
       (SELECT parked, ${table.owner.name} AS owner, MIN(due_at) AS due FROM ${of(table)} WHERE ${sql}
        GROUP BY ${groups(table)}) AS firsts
     LEFT JOIN ${owners.table} o ON o.id = firsts.owner
     WHERE due <= ? AND (parked = 0 OR (${owners.mayGoOn})) GROUP BY parked`,
    [...values, at, ...Array<Date>(times).fill(at)],
  );
  const found = (parked: 0 | 1): Date | null => rows.find((row) => row.parked === parked)?.due ?? null;
  return { admitted: found(0), parked: found(1) };
}
