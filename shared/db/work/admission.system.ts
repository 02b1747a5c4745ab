import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, type Changed, query } from '../client.ts';
import { keyFromBytes, keyToBytes, type WorkTable } from './table.system.ts';

/** Which rows of which owners have a job in Redis: those with parked = 0, as many as the owner has room for. */

const of = ({ name, index }: WorkTable) => `${name} FORCE INDEX (${index})`;
/** MariaDB takes one step for each group only where the columns before it in the index are grouped by as well. */
const groups = ({ lanes, owner }: WorkTable) =>
  ['status', ...(lanes ? [lanes.column] : []), 'parked', owner.column].join(', ');

function condition<Lane extends string>({ waiting, lanes }: WorkTable<Lane>, lane: Lane | null) {
  return lanes
    ? { sql: `status = ? AND ${lanes.column} = ?`, values: [waiting, lane] }
    : { sql: 'status = ?', values: [waiting] };
}

/** Which lanes have rows, parked or not: a step along the index for each, however many there are. */
export async function listLanes<Lane extends string>(
  table: WorkTable<Lane>,
): Promise<{ lane: Lane | null; parked: boolean }[]> {
  if (!table.lanes) return [true, false].map((parked) => ({ lane: null, parked }));
  const { column, order } = table.lanes;
  const rows = await query<{ lane: Lane; parked: number }[]>(
    `SELECT ${column} AS lane, parked FROM ${of(table)} WHERE status = ? GROUP BY status, ${column}, parked`,
    [table.waiting],
  );
  const found = rows.map(({ lane, parked }) => ({ lane, parked: parked === 1 }));
  return found.toSorted((one, other) => order.indexOf(one.lane) - order.indexOf(other.lane));
}

/**
 * Owners with rows of a lane, parked or not, in the order of their ids, each with the time that the first of them is
 * due. One with a million of them is one step along the index, as any other.
 */
export async function listOwnersWaiting<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane | null,
  parked: boolean,
  after: string | null,
  limit: number,
): Promise<{ ownerId: string; dueAt: Date }[]> {
  const { owner } = table;
  const { sql, values } = condition(table, lane);
  const rows = await query<{ owner: Buffer; due: Date }[]>(
    `SELECT ${owner.column} AS owner, MIN(due_at) AS due FROM ${of(table)}
     WHERE ${sql} AND parked = ? AND ${owner.column} > ?
     GROUP BY ${groups(table)} ORDER BY ${groups(table)} LIMIT ?`,
    [...values, parked, after === null ? Buffer.alloc(0) : idToBytes(after), limit],
  );
  return rows.map((row) => ({ ownerId: idFromBytes(owner.prefix, row.owner), dueAt: row.due }));
}

/** SQL: how many rows the owner with this id has in Redis. There are never many more than there may be. */
export function admittedOf<Lane extends string>(table: WorkTable<Lane>, lane: Lane | null, owner: string) {
  const { sql, values } = condition(table, lane);
  return {
    sql: `(SELECT COUNT(*) FROM ${of(table)} WHERE ${sql} AND parked = 0 AND ${table.owner.column} = ${owner})`,
    values,
  };
}

/** SQL: whether the owner with this id has a row that is due by then and waits for room. */
export function hasParkedDue<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane | null,
  owner: string,
  dueBefore: Date,
) {
  const { sql, values } = condition(table, lane);
  return {
    sql: `EXISTS (SELECT 1 FROM ${of(table)}
      WHERE ${sql} AND parked = 1 AND ${table.owner.column} = ${owner} AND due_at <= ?)`,
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
  /** A worker had it in hand when its lease ended. */
  isLeft: boolean;
};

/** Of each of these owners the rows that are due first, no later than its `dueBefore` and no more than its limit. */
export async function listDueOf<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane | null,
  parked: boolean,
  owners: { ownerId: string; dueBefore: Date; limit: number }[],
): Promise<WaitingRow[]> {
  if (owners.length === 0) return [];
  const { owner } = table;
  const { sql, values } = condition(table, lane);
  const each = `(SELECT id, ${owner.column} AS owner, due_at, claims, request_id, lease_token IS NOT NULL AS is_left
    FROM ${of(table)} WHERE ${sql} AND parked = ? AND ${owner.column} = ? AND due_at <= ? ORDER BY due_at LIMIT ?)`;
  const rows = await query<DueRow[]>(
    Array<string>(owners.length).fill(each).join(' UNION ALL '),
    owners.flatMap(({ ownerId, dueBefore, limit }) => [
      ...values,
      parked,
      idToBytes(ownerId),
      dueBefore,
      limit,
    ]),
  );
  return rows.map((row) => ({
    id: keyFromBytes(table.prefix, row.id),
    ownerId: idFromBytes(owner.prefix, row.owner),
    dueAt: row.due_at,
    claims: row.claims,
    requestId: row.request_id?.toString() ?? null,
    isLeft: row.is_left === 1,
  }));
}

/**
 * They get a job in Redis; rows that somebody else admits at this moment are his. Returns how many are ours. They are
 * due from now on, however long they have waited: by that it is told whether a job is lost.
 */
export async function updateAdmitted(table: WorkTable, ids: string[], at: Date): Promise<number> {
  const claim = table.countsAdmission ? 'claims = claims + 1, ' : '';
  const { affectedRows } = await query<Changed>(
    `UPDATE ${table.name} ${byId} SET parked = 0, ${claim}due_at = GREATEST(due_at, ?)
     WHERE id IN (?) AND status = ? AND parked = 1`,
    [at, ids.map((id) => keyToBytes(table.prefix, id)), table.waiting],
  );
  return affectedRows;
}

/** They have no job in Redis after all, and their old place. A delivery that a worker has in hand is left alone. */
export async function updateParked(table: WorkTable, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await query(
      `UPDATE ${table.name} ${byId} SET parked = 1, due_at = IF(${table.isUntried}, ${table.waitsSince}, due_at)
       WHERE id IN (?) AND status = ? AND parked = 0 AND lease_token IS NULL`,
      [ids.map((id) => keyToBytes(table.prefix, id)), table.waiting],
    );
}

/**
 * Since when the row of a lane that waits longest has been due, of those that have a job in Redis and of those that
 * wait for room there though nothing holds their owner back; null when there is none. `owners`: the table of the
 * owners, and SQL that tells of one, `o`, whether its work may go on; `at` takes the place of each `?`.
 */
export async function findOldestDue<Lane extends string>(
  table: WorkTable<Lane>,
  lane: Lane | null,
  at: Date,
  owners: { table: string; mayGoOn: string },
): Promise<{ admitted: Date | null; parked: Date | null }> {
  const { sql, values } = condition(table, lane);
  const times = owners.mayGoOn.split('?').length - 1;
  const rows = await query<{ parked: number; due: Date }[]>(
    `SELECT parked, MIN(due) AS due FROM
       (SELECT parked, ${table.owner.column} AS owner, MIN(due_at) AS due FROM ${of(table)} WHERE ${sql}
        GROUP BY ${groups(table)}) AS firsts
     LEFT JOIN ${owners.table} o ON o.id = firsts.owner
     WHERE due <= ? AND (parked = 0 OR (${owners.mayGoOn})) GROUP BY parked`,
    [...values, at, ...Array<Date>(times).fill(at)],
  );
  const found = (parked: 0 | 1): Date | null => rows.find((row) => row.parked === parked)?.due ?? null;
  return { admitted: found(0), parked: found(1) };
}
