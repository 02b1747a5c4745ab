import { now } from '../common/clock.ts';
import { portionsOf } from '../common/portions.ts';
import { listDueOf, listLanes, listOwnersWaiting, type WaitingRow } from '../db/work/admission.system.ts';
import type { WorkTable } from '../db/work/table.system.ts';
import { wakeBefore } from '../queue/queue.ts';
import { overdueSuffix } from './job-name.ts';

/**
 * A row whose job seems to be lost: `dueAt` is the time of its new job, and `suffix` is added to the name of that job.
 */
export type Lost = WaitingRow & { suffix: string };

// The most owners that are listed, or admitted together, at a time.
const pageSize = 500;
const admitAtOnce = 100;
const fewestLost = 10;
// The most rows that one run admits in a lane; the work itself and the next run admit the rest.
const mostAdmitted = 20_000;

/**
 * Makes the sweep of a kind of work. The sweep first makes the jobs of overdue rows again, which a flushed Redis or a
 * dead worker has lost. Then it admits rows that have waited for their time or for room. Both steps page through the
 * owners that have such rows, until a run has done enough; the next run of this process goes on from there. So every
 * owner's turn comes, and no owner's backlog stands before the others'. The sweep returns how many rows it looked at.
 */
export function sweeper<Lane extends string>(options: {
  table: WorkTable<Lane>;
  /** The most overdue rows of one run and lane, shared out among the owners that have some. */
  mostLost: number;
  wake: (lane: Lane, lost: Lost[]) => Promise<unknown>;
  /**
   * Called before the rows are read. Returns the test of which rows have really lost their jobs; left out, all of them
   * have.
   */
  findIsLost?: () => Promise<(row: Lost) => boolean>;
  /** Admits what there is room for; returns how many. */
  admit: (lane: Lane, ownerIds: string[]) => Promise<number>;
}) {
  const { table, mostLost, wake, findIsLost, admit } = options;
  const reached = new Map<string, string | null>();

  async function forOwners(
    lane: Lane,
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

  function wakeLost(lane: Lane, overdueBefore: Date): Promise<number> {
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

  function admitParked(lane: Lane): Promise<number> {
    return forOwners(lane, true, wakeBefore(now()), mostAdmitted, async (ownerIds) => {
      let admitted = 0;
      for (const some of portionsOf(ownerIds, admitAtOnce)) admitted += await admit(lane, some);
      return admitted;
    });
  }

  return async (overdueBefore: Date): Promise<number> => {
    // Most lanes have no waiting rows, so one query finds the lanes that have some.
    const found = await listLanes(table);
    let seen = 0;
    for (const { lane, parked } of found) if (!parked) seen += await wakeLost(lane, overdueBefore);
    for (const { lane, parked } of found) if (parked) seen += await admitParked(lane);
    return seen;
  };
}

const [leastWaitMs, spreadMs] = [7_000, 5_000];

/**
 * Returns the time of the new job for a row that a dead worker held: a random one, some seconds ahead. One of the
 * worker's rows may have killed it, and if all its rows came back at the same moment, this row would kill the next
 * worker together with the others. After an outage of MySQL the worker may be alive: it writes the outcome when its
 * connection is open again, which may take five seconds, and its pause between two tries is over.
 */
function oneByOne(time: Date): Date {
  return new Date(time.getTime() + leastWaitMs + Math.random() * spreadMs);
}
