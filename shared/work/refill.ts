import { now } from '../common/clock.ts';
import { listDueOf, updateAdmitted, updateParked, type WaitingRow } from '../db/work/admission.system.ts';
import type { WorkTable } from '../db/work/table.system.ts';

/** How many jobs an owner may have in a lane, and has. */
export type Capacity = {
  ownerId: string;
  /** Jobs that it may have in all. */
  window: number;
  /** Jobs that it has. */
  admitted: number;
  /** Further jobs that it may have now, and how many of those for rows that are due much later. */
  room: number;
  forLater: number;
  /** Rows that are due later than this stay where they are. */
  dueBefore: Date;
};

/** Rows of one owner that are admitted, first due first. `isAll`: no others of it were found. */
type AdmittedRows = { room: Capacity; rows: WaitingRow[]; isAll: boolean };

/** Work that is due no later than in this time counts as due. */
export const soonMs = 5_000;
// Of one statement.
const mostRows = 5_000;
const mostOwners = 100;

/**
 * Makes the function that admits rows of these owners to Redis, first due first, as far as there is room. `isFull` in
 * its answer: some owner has no room, though it may have more than none.
 */
export function refiller<Lane extends string, Asker extends string>(options: {
  table: WorkTable<Lane>;
  /** Of each owner that something may be admitted for. It is asked before and after the rows are listed. */
  roomsOf: (lane: Lane | null, ownerIds: string[], at: Date, by: Asker) => Promise<Capacity[]>;
  /**
   * The asker, and the part of the window that must be free for an owner to be looked at: the fewer the times, the
   * more there is to admit each time.
   */
  leastFree: Record<Asker, number>;
  /** Makes the jobs; returns the rows whose jobs Redis did not take. */
  wake: (lane: Lane | null, groups: AdmittedRows[], at: Date) => Promise<{ id: string }[]>;
  /** In one go, for one owner: neither Redis nor this process is busy with them for long. */
  mostAtOnce: number;
  note: (lane: Lane | null, admitted: number) => void;
}) {
  const { table, roomsOf, leastFree, wake, mostAtOnce, note } = options;

  async function admit(lane: Lane | null, rooms: Capacity[], at: Date, by: Asker): Promise<number> {
    const found = Map.groupBy(
      await listDueOf(
        table,
        lane,
        true,
        rooms.map(({ ownerId, dueBefore, room }) => ({
          ownerId,
          dueBefore,
          limit: Math.min(room, mostAtOnce),
        })),
      ),
      ({ ownerId }) => ownerId,
    );
    if (found.size === 0) return 0;
    const soon = at.getTime() + soonMs;
    // Counted again, after they were listed: two who do this at once then admit the same ones, or no more than there
    // is room for.
    const groups = (await roomsOf(lane, [...found.keys()], at, by)).map((room): AdmittedRows => {
      const listed = found.get(room.ownerId) ?? [];
      const rows = listed
        .slice(0, Math.min(Math.max(0, room.room), mostAtOnce))
        // Rows that are due much later must leave room for those that come up before them.
        .filter(({ dueAt }, index) => dueAt.getTime() <= soon || index < room.forLater);
      return { room, rows, isAll: rows.length === listed.length && rows.length < room.room };
    });
    const ids = groups.flatMap(({ rows }) => rows.map(({ id }) => id));
    if (ids.length === 0) return 0;
    // Before the jobs, so that two who do this at once admit the same ones, and the second knows it.
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
    );
    const woken = Math.max(0, admitted - missed.length);
    if (woken > 0) note(lane, woken);
    return woken;
  }

  return async (
    lane: Lane | null,
    ownerIds: string[],
    by: Asker,
  ): Promise<{ admitted: number; isFull: boolean }> => {
    const at = now();
    const rooms = (await roomsOf(lane, ownerIds, at, by)).filter(({ window }) => window > 0);
    const free = rooms.filter(({ window, room }) => room > 0 && room >= leastFree[by] * window);
    let admitted = 0;
    for (const group of inGroups(free, mostAtOnce)) admitted += await admit(lane, group, at, by);
    return { admitted, isFull: free.length < rooms.length };
  };
}

function inGroups(rooms: Capacity[], mostAtOnce: number): Capacity[][] {
  const groups: Capacity[][] = [];
  let rows = mostRows;
  for (const room of rooms) {
    const its = Math.min(room.room, mostAtOnce);
    rows += its;
    if (rows > mostRows || groups.at(-1)!.length >= mostOwners) {
      groups.push([]);
      rows = its;
    }
    groups.at(-1)!.push(room);
  }
  return groups;
}
