import { setTimeout as sleep } from 'node:timers/promises';
import { batcher, batcherByLane } from '../../common/batcher.ts';
import { isOutage } from '../../common/errors.ts';
import { idToBytes, newUuid } from '../../formats/ids.ts';
import type { Columns, Table } from '../client/table.ts';
import { byId, changeRows, hex, isLockConflict, outsideTransaction, query, written } from '../client.ts';
import type { Lease, WorkTable } from './table.system.ts';

/** Makes the statements by which workers claim rows and give claims back, for each kind of work. */

/** How many rows share a statement, and how many such statements run at the same time. */
export type Batches = { maxItems: number; maxInFlight: number };
export const usual: Batches = { maxItems: 50, maxInFlight: 4 };

/** Rows of one lane never wait for a statement with rows of another one, which may be large. */
type InLane = { lane?: string };
const laneOf = ({ lane = '' }: InLane): string => lane;

/** `onlyFree`: not a row whose worker has let its lease end. That worker may live, and still write its outcome. */
type Claim = InLane & { id: string; at: Date; until: Date; onlyFree?: boolean };
type HandoverColumn = Pick<Table<Columns>, 'names'>;
type Handover = InLane & Lease & { at: Date; receiver?: string };

/**
 * Makes the function that claims a row for this worker until the lease ends; null when the row is not due or another
 * worker has it (architecture rule 4). Claims of one moment and lane share a statement and a token.
 */
export function claimer<Claimed, Row extends { id: Buffer }>(
  { name, waiting }: WorkTable,
  options: {
    /** SQL that reads all that an attempt needs, up to its WHERE. */
    select: string;
    toClaimed: (row: Row, token: Buffer) => Claimed;
    /** SQL that the claim sets too, from the row as it was before; `at` takes the place of each `?`. */
    set?: string;
    batches?: Batches;
  },
): (claim: Claim) => Promise<Claimed | null> {
  const also = options.set ? `${options.set}, ` : '';
  const alsoTimes = also.split('?').length - 1;
  const claims = batcherByLane<Claim, Claimed | null>({
    laneOf,
    ...(options.batches ?? usual),
    run: async (items) => {
      const ids = items.map(({ id }) => idToBytes(id));
      const { at, until } = items.at(-1)!;
      const onlyFree = items.filter((item) => item.onlyFree).map(({ id }) => idToBytes(id));
      const alsoFree = onlyFree.length > 0 ? 'AND (lease_token IS NULL OR id NOT IN (?))' : '';
      const token = newUuid(at);
      // A second run claims only rows that the first one did not: a claimed row is no longer due.
      const rows = await untilAnswered(async (isFirst) => {
        const changed = await changeRows(
          `UPDATE ${name} ${byId} SET ${also}lease_token = ?, due_at = ?, parked = 0, claims = claims + 1
           WHERE id IN (?) AND status = ? AND due_at <= ? ${alsoFree}`,
          [...Array<Date>(alsoTimes).fill(at), token, until, ids, waiting, at, onlyFree],
        );
        if (changed === 0 && isFirst) return [];
        return query<Row[]>(`${options.select} WHERE ${name}.id IN (?) AND ${name}.lease_token = ?`, [
          ids,
          token,
        ]);
      });
      const claimed = new Map(
        rows.map((row) => [row.id.toString('hex'), options.toClaimed(row, token)] as const),
      );
      return ids.map((id) => {
        const key = id.toString('hex');
        const one = claimed.get(key) ?? null;
        // A batch may have two jobs for the same row: only the first one gets the claim.
        claimed.delete(key);
        return one;
      });
    },
  });
  return (claim) => outsideTransaction(() => claims(claim));
}

/**
 * Makes the function that records that the hand-over to the other side is about to begin: if this worker dies
 * afterwards, nobody can know whether the message went out. False when the lease is no longer ours. `firstAt`: the
 * column for the time of the first hand-over; `receiver`: the column for the name of the other side.
 */
export function handoverStarter(
  table: WorkTable,
  {
    firstAt,
    receiver,
    batches = usual,
  }: { firstAt?: HandoverColumn; receiver?: HandoverColumn; batches?: Batches } = {},
): (handover: Handover) => Promise<boolean> {
  const first = (firstAt?.names ?? []).map((column) => `, ${column} = COALESCE(${column}, handover_at)`);
  const alsoOf = (items: Handover[]) => [
    ...first,
    ...(receiver?.names ?? []).map((column) => `, ${column} = ${receiverByLease(table.name, items)}`),
  ];
  const handovers = batcherByLane<Handover, boolean>({
    laneOf,
    ...batches,
    run: async (items) => {
      // As SQL, because the driver would search the whole text for the places of values.
      const at = written(items[0]!.at);
      const begun = await untilAnswered(() =>
        changeRows(
          // An earlier hand-over that never finished is counted here, so that a second death is not forgotten. When
          // this statement runs again after a lost answer, its own hand-over is not counted.
          `UPDATE ${table.name} ${byId}
           SET uncertain_count = uncertain_count + (handover_at IS NOT NULL AND handover_at <> ${at}), handover_at = ${at}${alsoOf(items).join('')}
           WHERE ${holdingAny(table.name, items)}`,
        ),
      );
      if (begun === items.length) return items.map(() => true);
      return items.map(await findOwned(table, items));
    },
  });
  return (handover) => outsideTransaction(() => handovers(handover));
}

/**
 * Returns SQL for the receiver of each hand-over; the receivers are few. The lease identifies the hand-over, because a
 * worker that lost its lease may name another receiver for the same row.
 */
function receiverByLease(table: string, items: Handover[]): string {
  const groups = Map.groupBy(items, ({ receiver }) => receiver);
  const [last, ...others] = [...groups].map(([receiver, some]) => ({
    name: receiver === undefined ? 'NULL' : hex(Buffer.from(receiver)),
    some,
  }));
  if (others.length === 0) return last!.name;
  const cases = others.map(({ name, some }) => `WHEN ${holdingAny(table, some)} THEN ${name}`);
  return `CASE ${cases.join(' ')} ELSE ${last!.name} END`;
}

/**
 * Makes the function that gives back a claim because the owner may not send now: the row goes back to its place among
 * the waiting rows. If the lease was lost meanwhile, the row stays as it is.
 */
export function leaseReturner(table: WorkTable): (lease: Lease & { at: Date }) => Promise<void> {
  const returns = batcher<Lease & { at: Date }, void>({
    ...usual,
    run: async (items) => {
      await query(
        `UPDATE ${table.name} ${byId} SET lease_token = NULL, parked = 1, claims = claims - 1,
           due_at = IF(${table.isUntried}, ${table.waitsSince}, ?)
         WHERE ${holdingAny(table.name, items)}`,
        [items[0]!.at],
      );
      return items.map(() => undefined);
    },
  });
  return (lease) => outsideTransaction(() => returns(lease));
}

/** The values of a row before its claim; a hand-over that failed may have changed them since. */
type BeforeHandover = Lease & {
  at: Date;
  triedAt: Date | null;
  handoverAt: Date | null;
  receiver?: string | null;
  uncertainCount: number;
};

/**
 * Makes the function that undoes a claim after a fault of ours, before the other side was contacted: the row is due at
 * `at`, as if nobody had claimed it. If `triedAt` is given, the row is postponed: it is parked, and `triedAt` becomes
 * the time of its first try unless it has one. Like any row that is due later it may be admitted before its time, but
 * only into the half of the owner's window that such rows may take (`windowForLater`). `receiverColumn`: the `receiver`
 * of `handoverStarter`.
 */
export function claimUndoer(
  { name }: WorkTable,
  receiverColumn?: HandoverColumn,
): (claim: BeforeHandover) => Promise<void> {
  const receivers = (receiverColumn?.names ?? []).map((column) => `, ${column} = ?`);
  return ({ id, token, at, triedAt, handoverAt, receiver = null, uncertainCount }) =>
    outsideTransaction(async () => {
      await query(
        `UPDATE ${name} ${byId} SET lease_token = NULL, claims = claims - 1, due_at = ?, parked = ?,
           tried_at = COALESCE(tried_at, ?), handover_at = ?, uncertain_count = ?${receivers.join('')}
         WHERE id = ? AND lease_token = ?`,
        [
          at,
          triedAt !== null,
          triedAt,
          handoverAt,
          uncertainCount,
          ...receivers.map(() => receiver && Buffer.from(receiver)),
          idToBytes(id),
          token,
        ],
      );
    });
}

// If the answer to a claim is lost, its rows stay locked away until the lease ends, so we try for some seconds.
const patienceMs = 3_000;
const longestPauseMs = 500;
const mostConflicts = 3;

/**
 * Runs a statement again after a lock conflict or a lost answer; outside of a transaction nothing else retries it. The
 * statement must be idempotent.
 */
async function untilAnswered<T>(say: (isFirst: boolean) => Promise<T>): Promise<T> {
  let end: number | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await say(attempt === 1);
    } catch (error) {
      if (!isOutage(error)) throw error;
      end ??= performance.now() + patienceMs;
      if (isLockConflict(error.cause) ? attempt > mostConflicts : performance.now() >= end) throw error;
    }
    await sleep(Math.min(longestPauseMs, 10 * 2 ** attempt) * (0.5 + Math.random()));
  }
}

/** Up to this many tokens are compared one by one. The server looks longer for a pair in a list. */
const tokensAtOnce = 4;

/** Returns SQL that tells whether the row still has one of these leases. Ids and tokens are SQL too. */
export function holdingLease(table: string, leases: readonly { id: string; token: string }[]): string {
  const idIn = (some: typeof leases) => `${table}.id IN (${some.map(({ id }) => id).join(',')})`;
  // Rows that were claimed together share a token.
  const groups = [...Map.groupBy(leases, ({ token }) => token)];
  if (groups.length === 1) return `${idIn(leases)} AND ${table}.lease_token = ${groups[0]![0]}`;
  const isHeld =
    groups.length <= tokensAtOnce
      ? groups.map(([token, some]) => `${table}.lease_token = ${token} AND ${idIn(some)}`).join(' OR ')
      : `(${table}.id, ${table}.lease_token) IN (${leases.map(({ id, token }) => `(${id},${token})`).join(',')})`;
  // The ids are listed alone too, because the index has only the id.
  return `${idIn(leases)} AND (${isHeld})`;
}

/**
 * Does the same for leases whose id and token are not SQL yet. Id and token are compared in pairs: the row of a worker
 * that lost its lease may have the token of another lease in the list.
 */
const holdingAny = (table: string, leases: readonly Lease[]): string =>
  holdingLease(
    table,
    leases.map(({ id, token }) => ({ id: hex(idToBytes(id)), token: hex(token) })),
  );

const keyOf = (id: Buffer, token: Buffer) => id.toString('hex') + token.toString('hex');

/** Tells which of these leases are still held, and locks their rows in a transaction. */
export async function findOwned(table: WorkTable, leases: Lease[]): Promise<(lease: Lease) => boolean> {
  const rows = await query<{ id: Buffer; lease_token: Buffer }[]>(
    `SELECT id, lease_token FROM ${table.name} ${byId} WHERE ${holdingAny(table.name, leases)} FOR UPDATE`,
  );
  const owned = new Set(rows.map((row) => keyOf(row.id, row.lease_token)));
  return ({ id, token }) => owned.has(keyOf(idToBytes(id), token));
}
