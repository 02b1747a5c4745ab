import { now } from '../../common/clock.ts';
import { count } from '../../common/metrics.ts';
import type { WaitingRow } from '../../db/work/admission.system.ts';
import {
  listAdmissions,
  type MessageAdmission,
  type Messages,
} from '../../db/work/message-admission.system.ts';
import type { Job } from '../../jobs/job.ts';
import { enqueueAll, isNear, wakeBefore } from '../../queue/queue.ts';
import { admissionWindows, rankOf, windowForLater } from '../../work/admission-window.ts';
import { type Capacity, refiller } from '../../work/refill.ts';
import { inSharedJobs, type SharedJob, sharedJobName } from '../../work/shared-jobs.ts';
import { sweeper } from '../../work/sweep.ts';

/** More at once would keep the process from the messages that it has in hand. */
const wokenAtOnce = 50;
// Of lost jobs, in one run and lane.
const mostLost = 500;
// Workspaces at a time.
const admitAtOnce = 50;

/** Whether a limit that is used up holds the workspace. */
const isHeld = ({ isLimited, heldUntil }: MessageAdmission, at: Date): boolean =>
  isLimited && heldUntil !== null && heldUntil > at;

/** A message that is to have a job, with its place among those of its workspace. */
type RankedRow = WaitingRow & { rank: number; suffix?: string };

/**
 * Which messages have a job in Redis. A workspace has so many of them, in each lane, and the rest waits in its rows: for
 * room, for its time, for a sending limit, or for the operator to let the workspace send again. Other work whose owners
 * are workspaces goes by it too.
 */
export function messageAdmission<Lane extends string, Payload extends object>(options: {
  messages: Messages<Lane>;
  job: Job<Payload, Lane>;
  /** `lane` is that of the row, where the job goes into another. */
  payloadOf: (message: { id: string; workspaceId: string; lane?: Lane }) => Payload;
  /** Where the jobs of a workspace's rows of this lane go. */
  laneOf?: (lane: Lane, workspaceId: string) => Lane;
  /** Jobs of one workspace in one lane, and how many it gets in one go: the messages themselves bring on the next. */
  window: () => number;
  mostAtOnce: number;
  /** For so long a message waits while its workspace may not send. */
  giveUpMinutes: Record<Lane, number>;
  /** Rows of one workspace that are due may share a job: in which lane, how many, and what the job says of the others. */
  shared?: {
    lane: Lane;
    most: number;
    payloadOf: (others: { id: string; requestId: string | null }[]) => Partial<Payload>;
  };
  /** How many more may go out now of these workspaces, which have limits. */
  listAllowances?: (workspaceIds: string[], at: Date) => Promise<Map<string, number>>;
  /** A counter, and the label that it has for the lane. */
  metric?: { name: string; label: string };
}) {
  const {
    messages,
    job,
    payloadOf,
    laneOf = (lane) => lane,
    window,
    mostAtOnce,
    giveUpMinutes,
    metric,
  } = options;
  const { table } = messages;
  /** A table without lanes has those of its job, which is one. */
  const laneIn = (lane: Lane | null): Lane => lane ?? (Object.keys(job.lanes)[0] as Lane);

  async function capacitiesOf(of: Lane | null, workspaceIds: string[], at: Date): Promise<Capacity[]> {
    const lane = laneIn(of);
    const near = wakeBefore(at);
    const found = await listAdmissions(messages, lane, workspaceIds, near);
    const waiting = found.filter(({ hasParked }) => hasParked);
    const limited = waiting.filter(({ isLimited }) => isLimited).map(({ workspaceId }) => workspaceId);
    const allowances = limited.length > 0 ? await options.listAllowances?.(limited, at) : undefined;
    // Of a workspace that may not send only messages that have waited for too long, to fail.
    const overdue = new Date(at.getTime() - giveUpMinutes[lane] * 60_000);
    return waiting.map((admission) => {
      const { workspaceId, sendingBlocked, isLimited, admitted } = admission;
      const free = window() - admitted;
      const allowed = Math.min(free, allowances?.get(workspaceId) ?? Number.POSITIVE_INFINITY);
      return {
        ownerId: workspaceId,
        window: window(),
        admitted,
        free: sendingBlocked ? free : isHeld(admission, at) ? 0 : allowed,
        forLater: isLimited ? 0 : windowForLater(window()) - admitted,
        dueBefore: sendingBlocked ? overdue : near,
      };
    });
  }

  /** Turns that share a job. A row that is due later, or whose job is made again, has one of its own. */
  function inJobs(lane: Lane, turns: RankedRow[]): SharedJob<RankedRow>[] {
    const { shared } = options;
    const mayShare = ({ dueAt, suffix }: RankedRow) =>
      lane === shared?.lane && dueAt <= now() && suffix === undefined;
    return inSharedJobs(turns, { ownerOf: ({ ownerId }) => ownerId, mayShare, most: shared?.most ?? 1 });
  }

  /** Returns those that Redis did not take. */
  async function wakeAll(lane: Lane, turns: RankedRow[]): Promise<RankedRow[]> {
    for (let start = 0; start < turns.length; start += wokenAtOnce) {
      const some = turns.slice(start, start + wokenAtOnce);
      for (const [jobLane, inLane] of Map.groupBy(some, ({ ownerId }) => laneOf(lane, ownerId))) {
        const jobs = inJobs(jobLane, inLane).map(([turn, ...others]) => ({
          id: sharedJobName([turn, ...others]),
          payload: {
            ...payloadOf({
              id: turn.id,
              workspaceId: turn.ownerId,
              ...(jobLane === lane ? {} : { lane }),
            }),
            ...(others.length > 0 && options.shared?.payloadOf(others)),
          },
          at: turn.dueAt,
          requestId: turn.requestId,
          priority: turn.rank,
        }));
        // Jobs that Redis has taken already find out for themselves whose turn it is.
        if (!(await enqueueAll(job, jobLane, jobs))) return turns.slice(start);
      }
    }
    return [];
  }

  const refill = refiller<Lane, 'sweep' | 'worker' | 'request'>({
    table,
    capacitiesOf,
    leastFree: { sweep: 0, worker: 0.3, request: 0 },
    wake: (lane, groups) =>
      wakeAll(
        laneIn(lane),
        groups.flatMap(({ capacity, rows }) =>
          rows.map((row, index) => ({ ...row, rank: rankOf(capacity.admitted + index) })),
        ),
      ),
    mostAtOnce,
    note: (lane, admitted) => {
      if (metric) count(metric.name, { [metric.label]: laneIn(lane) }, admitted);
    },
  });

  const sweep = sweeper<Lane>({
    table,
    mostLost,
    wake: (lane, lost) =>
      wakeAll(
        laneIn(lane),
        lost.map((row) => ({ ...row, rank: 0 })),
      ),
    admit: async (lane, workspaceIds) => (await refill(lane, workspaceIds, 'sweep')).admitted,
    admitAtOnce,
  });

  const { tryAdmit, checkSoon } = admissionWindows<Lane>({
    window,
    count: async (lane, workspaceId, dueBefore) => {
      const [found] = await listAdmissions(messages, lane, [workspaceId], dueBefore);
      if (!found) return null;
      const isBehind = found.hasParked || found.sendingBlocked || isHeld(found, now());
      return { admitted: found.admitted, isLimited: found.isLimited, isBehind };
    },
    refill,
  });

  return {
    tryAdmit,
    checkSoon,
    /** Whether a message that a worker gives back keeps a job until it is due again; else it waits in its row. */
    keepsJob: (lane: Lane, workspaceId: string, dueAt: Date): boolean => {
      if (!isNear(dueAt)) return false;
      const permit = tryAdmit(lane, workspaceId, dueAt);
      // Until now it was counted as one that a worker holds.
      permit.committed();
      return permit.isGranted;
    },
    refill,
    /** Makes again what is missing of the jobs, and admits what there is room for; returns how many rows it looked at. */
    sweep,
  };
}
