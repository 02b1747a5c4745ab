import { setTimeout as sleep } from 'node:timers/promises';
import { batcher } from '../../common/batcher.ts';
import { isOutage } from '../../common/errors.ts';
import { idToBytes, newUuid } from '../../formats/ids.ts';
import type { ColumnMap, Columns } from '../client/table.ts';
import { byId, type Changed, hex, isLockConflict, outsideTransaction, query } from '../client.ts';
import type { Lease, WorkTable } from './table.system.ts';

/** How many rows share a statement, and how many such statements are on their way at once. */
export type Batches = { maxItems: number; maxInFlight: number };
export const usual: Batches = { maxItems: 50, maxInFlight: 4 };

type Claim = { id: string; at: Date; until: Date };

/**
 * Makes the function that takes a row for this worker until the lease ends; null when the row is not due or somebody else
 * has it (architecture rule 4). Claims of one moment share a statement and a token.
 */
export function claimer<Claimed, Row extends { id: Buffer }>(
  { name, waiting }: WorkTable,
  options: {
    /** SQL that reads all that an attempt needs, as far as its WHERE. */
    select: string;
    toClaimed: (row: Row, token: Buffer) => Claimed;
    /** SQL that the claim sets too, from the row as it was before; `at` takes the place of each `?`. */
    set?: string;
    batches?: Batches;
  },
): (claim: Claim) => Promise<Claimed | null> {
  const also = options.set ? `${options.set}, ` : '';
  const alsoTimes = also.split('?').length - 1;
  const claims = batcher<Claim, Claimed | null>({
    ...(options.batches ?? usual),
    run: async (items) => {
      const ids = items.map(({ id }) => idToBytes(id));
      const { at, until } = items.at(-1)!;
      const token = newUuid(at);
      // Said again it takes what it has not taken yet: what it has is no longer due.
      const rows = await untilAnswered(async (isFirst) => {
        const { affectedRows } = await query<Changed>(
          `UPDATE ${name} ${byId} SET ${also}lease_token = ?, due_at = ?, parked = 0, claims = claims + 1
           WHERE id IN (?) AND status = ? AND due_at <= ?`,
          [...Array<Date>(alsoTimes).fill(at), token, until, ids, waiting, at],
        );
        if (affectedRows === 0 && isFirst) return [];
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
        // Two jobs for the same row in one batch: only the first may go on.
        claimed.delete(key);
        return one;
      });
    },
  });
  return (claim) => outsideTransaction(() => claims(claim));
}

/**
 * Makes the function that notes that the other side is about to be spoken to: if this worker dies from here on, nobody can
 * know whether the message went out. False when the lease is no longer ours. `firstAt`: the column of the first one's time.
 */
export function handoverStarter(
  table: WorkTable,
  { firstAt, batches = usual }: { firstAt?: Pick<ColumnMap<Columns>, 'names'>; batches?: Batches } = {},
): (handover: Lease & { at: Date }) => Promise<boolean> {
  const also = (firstAt?.names ?? [])
    .map((column) => `, ${column} = COALESCE(${column}, handover_at)`)
    .join('');
  const handovers = batcher<Lease & { at: Date }, boolean>({
    ...batches,
    run: async (items) => {
      const { at } = items[0]!;
      const { affectedRows } = await untilAnswered(() =>
        query<Changed>(
          // A hand-over that was begun before and never finished is counted here, so that a second death is not forgotten;
          // not this one, where its answer was lost.
          `UPDATE ${table.name} ${byId}
           SET uncertain_count = uncertain_count + (handover_at IS NOT NULL AND handover_at <> ?), handover_at = ?${also}
           WHERE ${holdingAny(table.name, items)}`,
          [at, at],
        ),
      );
      if (affectedRows === items.length) return items.map(() => true);
      return items.map(await findOwned(table, items));
    },
  });
  return (handover) => outsideTransaction(() => handovers(handover));
}

/**
 * Makes the function that gives back a claim that came to nothing, because the owner may not send now: the row waits in
 * its place among the others. A lease that is lost meanwhile is ours no more, and its row stays as it is.
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

/** A row as a claim has found it; a hand-over that came to nothing may have changed it. */
type BeforeHandover = Lease & { at: Date; handoverAt: Date | null; uncertainCount: number };

/**
 * Makes the function that takes a claim back after a fault of ours, before the other side was spoken to: the row is due
 * at once, and as if nobody had had it.
 */
export function claimUndoer({ name }: WorkTable): (claim: BeforeHandover) => Promise<void> {
  return ({ id, token, at, handoverAt, uncertainCount }) =>
    outsideTransaction(async () => {
      await query(
        `UPDATE ${name} ${byId}
         SET lease_token = NULL, claims = claims - 1, due_at = ?, handover_at = ?, uncertain_count = ?
         WHERE id = ? AND lease_token = ?`,
        [at, handoverAt, uncertainCount, idToBytes(id), token],
      );
    });
}

// A row that was taken, and whose worker does not know it, waits for the end of the lease.
const patienceMs = 3_000;
const longestPauseMs = 500;
const mostConflicts = 3;

/**
 * Says again what met the locks of others, or was not answered: outside of a transaction nobody else does. It must be
 * such that it may be said twice.
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

/** SQL: the row has one of these leases still; ids and tokens are SQL too. */
export function holdingLease(table: string, leases: readonly { id: string; token: string }[]): string {
  const pairs = leases.map(({ id, token }) => `(${id},${token})`);
  // The ids by themselves, as the index is of them alone.
  return `${table}.id IN (${leases.map(({ id }) => id).join(',')}) AND (${table}.id, ${table}.lease_token) IN (${pairs.join(',')})`;
}

/**
 * The same of leases as they are held here. By pairs: a late worker's row may be among the rows of others, and have the
 * token of one of them.
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
