import { now } from '../common/clock.ts';
import { listDueOf, updateAdmitted, updateParked, type WaitingRow } from '../db/work/admission.system.ts';
import type { WorkTable } from '../db/work/table.system.ts';

/** How many jobs an owner may have in a lane, and has. */
export type Capacity = {
  ownerId: string;
  /** How many jobs the owner may have in all. */
  window: number;
  /** How many jobs the owner has. */
  admitted: number;
  /** How many more jobs the owner may have now, and how many of these for rows that are due much later. */
  free: number;
  forLater: number;
  /** Rows that are due later than this stay parked. */
  dueBefore: Date;
};

/** Rows of one owner that are admitted, first due first. `isAll`: no other due rows of the owner were found. */
type AdmittedRows = { capacity: Capacity; rows: WaitingRow[]; isAll: boolean };

/** Work that is due no later than in this time counts as due. */
export const soonMs = 5_000;
// The most rows and owners of one statement.
const mostRows = 5_000;
const mostOwners = 100;

/**
 * Makes the function that admits parked rows of owners to Redis, first due first, as far as the owners' windows have
 * room. `full` in its result: the owners whose window has no room, or less than `leastFree`.
 */
export function refiller<Lane extends string, Asker extends string>(options: {
  table: WorkTable<Lane>;
  /**
   * Returns the capacity of each owner that rows may be admitted for. The refill asks before and after it lists the
   * rows.
   */
  capacitiesOf: (lane: Lane, ownerIds: string[], at: Date, by: Asker) => Promise<Capacity[]>;
  /**
   * For each asker, the part of a window (0 to 1) that must be free before the refill works on an owner. With a larger
   * part there are fewer refills, and each one admits more rows.
   */
  leastFree: Record<Asker, number>;
  /** Makes the jobs; returns the rows whose jobs Redis did not take. */
  wake: (lane: Lane, groups: AdmittedRows[], at: Date) => Promise<{ id: string }[]>;
  /**
   * The most rows of one owner in one go: few enough that neither Redis nor this process is busy with them for long.
   */
  mostAtOnce: number;
  note: (lane: Lane, admitted: number) => void;
}) {
  const { table, capacitiesOf, leastFree, wake, mostAtOnce, note } = options;

  async function admit(lane: Lane, capacities: Capacity[], at: Date, by: Asker): Promise<number> {
    const found = Map.groupBy(
      await listDueOf(
        table,
        lane,
        true,
        capacities.map(({ ownerId, dueBefore, free }) => ({
          ownerId,
          dueBefore,
          limit: Math.min(free, mostAtOnce),
        })),
      ),
      ({ ownerId }) => ownerId,
    );
    if (found.size === 0) return 0;
    const soon = at.getTime() + soonMs;
    // Capacities are counted again after the rows are listed. Two processes that refill at once then admit the same
    // rows, or no more than the window takes.
    const groups = (await capacitiesOf(lane, [...found.keys()], at, by)).map((capacity): AdmittedRows => {
      const listed = found.get(capacity.ownerId) ?? [];
      const rows = listed
        .slice(0, Math.min(Math.max(0, capacity.free), mostAtOnce))
        // Rows that are due much later must leave places for those that come up before them.
        .filter(({ dueAt }, index) => dueAt.getTime() <= soon || index < capacity.forLater);
      return { capacity, rows, isAll: rows.length === listed.length && rows.length < capacity.free };
    });
    const ids = groups.flatMap(({ rows }) => rows.map(({ id }) => id));
    if (ids.length === 0) return 0;
    // Marks the rows before it makes their jobs, so that of two processes that admit the same rows, the second sees
    // this.
    const admitted = await updateAdmitted(table, ids, at);
    if (admitted === 0) return 0;
    const missed = await wake(
      lane,
      groups.filter(({ rows }) => rows.length > 0),
      at,
    );
    await updateParked(
      table,
      missed.map(({ id }) => id),
      at,
    );
    const woken = Math.max(0, admitted - missed.length);
    if (woken > 0) note(lane, woken);
    return woken;
  }

  return async (
    lane: Lane,
    ownerIds: string[],
    by: Asker,
  ): Promise<{ admitted: number; full: ReadonlySet<string> }> => {
    const at = now();
    const capacities = (await capacitiesOf(lane, ownerIds, at, by)).filter(({ window }) => window > 0);
    const [worthwhile, full]: [Capacity[], Set<string>] = [[], new Set()];
    for (const capacity of capacities) {
      const { ownerId, window, free } = capacity;
      if (free > 0 && free >= leastFree[by] * window) worthwhile.push(capacity);
      else full.add(ownerId);
    }
    let admitted = 0;
    for (const group of inGroups(worthwhile, mostAtOnce)) admitted += await admit(lane, group, at, by);
    return { admitted, full };
  };
}

function inGroups(capacities: Capacity[], mostAtOnce: number): Capacity[][] {
  const groups: Capacity[][] = [];
  let rows = mostRows;
  for (const capacity of capacities) {
    const its = Math.min(capacity.free, mostAtOnce);
    rows += its;
    if (rows > mostRows || groups.at(-1)!.length >= mostOwners) {
      groups.push([]);
      rows = its;
    }
    groups.at(-1)!.push(capacity);
  }
  return groups;
}
