import { now } from '../common/clock.ts';
import { listDueOf, listLanes, listOwnersWaiting, type WaitingRow } from '../db/work/admission.system.ts';
import type { WorkTable } from '../db/work/table.system.ts';
import { wakeBefore } from '../queue/queue.ts';
import { overdueSuffix } from './job-name.ts';

/** A row that should have run: when its new job is due, and what is added to that one's name. */
export type Lost = WaitingRow & { suffix: string };

// Owners at a time.
const pageSize = 500;
const fewestLost = 10;
// Admitted by one run and lane; the work itself and the next run admit the rest.
const mostAdmitted = 20_000;

/**
 * Makes the sweep of a kind of work. First it makes again the jobs of rows that have been due for a while: a flushed Redis,
 * a dead worker. Then it admits rows that have waited for their time or for room. Both go through the owners that have
 * some, a page at a time, until a run has done enough; the next run of this process goes on from there. So everybody's turn
 * comes, and nobody's backlog stands before the others'. It returns how many rows it looked at.
 */
export function sweeper<Lane extends string>(options: {
  table: WorkTable<Lane>;
  /** Of one run and lane, shared out among the owners that miss some. */
  mostLost: number;
  wake: (lane: Lane | null, lost: Lost[]) => Promise<unknown>;
  /** Asked before the rows are read; tells which of them have really lost their jobs. All, where it is left out. */
  findIsLost?: () => Promise<(row: Lost) => boolean>;
  /** Admits what there is room for; returns how many. */
  admit: (lane: Lane | null, ownerIds: string[]) => Promise<number>;
  admitAtOnce: number;
}) {
  const { table, mostLost, wake, findIsLost, admit, admitAtOnce } = options;
  const reached = new Map<string, string | null>();

  async function forOwners(
    lane: Lane | null,
    parked: boolean,
    dueBefore: Date,
    most: number,
    work: (ownerIds: string[], left: number) => Promise<number>,
  ): Promise<number> {
    const key = `${lane} ${parked}`;
    let done = 0;
    while (done < most) {
      const page = await listOwnersWaiting(table, lane, parked, reached.get(key) ?? null, pageSize);
      const due = page.filter(({ dueAt }) => dueAt <= dueBefore).map(({ ownerId }) => ownerId);
      if (due.length > 0) done += await work(due, most - done);
      reached.set(key, page.length < pageSize ? null : page.at(-1)!.ownerId);
      if (page.length < pageSize) break;
    }
    return done;
  }

  function wakeLost(lane: Lane | null, overdueBefore: Date): Promise<number> {
    return forOwners(lane, false, overdueBefore, mostLost, async (ownerIds, left) => {
      const isLost = await findIsLost?.();
      const limit = Math.max(fewestLost, Math.floor(left / ownerIds.length));
      const overdue = await listDueOf(
        table,
        lane,
        false,
        ownerIds.map((ownerId) => ({ ownerId, dueBefore: overdueBefore, limit })),
      );
      const lost = overdue
        .map((row) => ({ ...row, suffix: overdueSuffix(row.dueAt, now()) }))
        .filter((row) => isLost?.(row) ?? true)
        .map((row) => (row.isLeft ? { ...row, dueAt: oneByOne(now()) } : row));
      if (lost.length > 0) await wake(lane, lost);
      return overdue.length;
    });
  }

  function admitParked(lane: Lane | null): Promise<number> {
    return forOwners(lane, true, wakeBefore(now()), mostAdmitted, async (ownerIds) => {
      let admitted = 0;
      for (let start = 0; start < ownerIds.length; start += admitAtOnce)
        admitted += await admit(lane, ownerIds.slice(start, start + admitAtOnce));
      return admitted;
    });
  }

  return async (overdueBefore: Date): Promise<number> => {
    // Mostly a lane has none: one question for all of them, and none for each.
    const found = await listLanes(table);
    let seen = 0;
    for (const { lane, parked } of found) if (!parked) seen += await wakeLost(lane, overdueBefore);
    for (const { lane, parked } of found) if (parked) seen += await admitParked(lane);
    return seen;
  };
}

const spreadMs = 5_000;

/**
 * When something that a dead worker had in hand is taken up again. One of them may be what killed it: if they all came
 * back at the same moment, it would take the others down again and again.
 */
function oneByOne(time: Date): Date {
  return new Date(time.getTime() + Math.random() * spreadMs);
}
