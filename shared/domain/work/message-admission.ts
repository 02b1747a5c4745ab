import { now } from '../../common/clock.ts';
import { count } from '../../common/metrics.ts';
import { afterCommit } from '../../db/client.ts';
import {
  findOldestDueMessages,
  listAdmissions,
  type MessageAdmission,
} from '../../db/work/message-admission.system.ts';
import type { WorkTable } from '../../db/work/table.system.ts';
import type { Job } from '../../jobs/job.ts';
import { enqueue, isNear, wakeBefore } from '../../queue/queue.ts';
import { admissionWindows, rankOf, windowForLater } from '../../work/admission-window.ts';
import { jobName } from '../../work/job-name.ts';
import type { WorkKind } from '../../work/kind.ts';
import { type Capacity, refiller } from '../../work/refill.ts';
import { type JobRow, makeJobs } from '../../work/shared-jobs.ts';
import { sweeper } from '../../work/sweep.ts';
import { turns } from '../../work/turns.ts';

// The most lost jobs that one run makes again in a lane.
const mostLost = 500;

/** Returns whether a limit that is used up holds back the messages of the workspace. */
const isHeld = ({ isLimited, heldUntil }: MessageAdmission, at: Date): boolean =>
  isLimited && heldUntil !== null && heldUntil > at;

/** A row that the current transaction stores. */
type StoredRow = {
  id: string;
  workspaceId: string;
  claims: number;
  dueAt: Date | null;
  requestId: string | null;
};

/**
 * Decides which messages have a job in Redis. A workspace has a limited number of jobs in each lane. Its other messages
 * wait in MySQL: for room, for their time, for a sending limit, or for the operator to let the workspace send again.
 * Other work whose owners are workspaces uses this too.
 */
export function messageAdmission<Lane extends string, Payload extends object>(options: {
  name: string;
  /** Returns the key under which the metric of the oldest due row has a lane; null: nowhere. `name` if left out. */
  metricOf?: (lane: Lane) => string | null;
  table: WorkTable<Lane>;
  job: Job<Payload, Lane>;
  /** `lane`: the lane of the row, given only where the job goes into another one. */
  payloadOf: (message: { id: string; workspaceId: string; lane?: Lane }) => Payload;
  /** Returns the lane into which the jobs of a workspace's rows of this lane go. */
  laneOf?: (lane: Lane, workspaceId: string) => Lane;
  /**
   * The most jobs of one workspace in one lane. `mostAtOnce`: how many it gets in one go, if not all of them; messages
   * that end admit the next ones.
   */
  window: () => number;
  mostAtOnce?: number;
  /**
   * How long a message waits while its workspace may not send, before it fails. If left out, a block on sending does
   * not concern this work.
   */
  giveUpMinutes?: Record<Lane, number>;
  /**
   * Lets due rows of one workspace share a job: in which lane, how many, and the part of the payload for the other
   * rows.
   */
  shared?: {
    lane: Lane;
    most: number;
    payloadOf: (others: { id: string; requestId: string | null }[]) => Partial<Payload>;
  };
  /** Returns how many more messages of each of these workspaces, which have limits, may go out now. */
  listAllowances?: (workspaceIds: string[], at: Date) => Promise<Map<string, number>>;
  /** The counters of admitted messages and of new ones that were parked, and the label that they have for the lane. */
  metric?: { admitted: string; parked?: string; label: string };
}) {
  const {
    name,
    metricOf = () => name,
    table,
    job,
    payloadOf,
    laneOf = (lane) => lane,
    window,
    mostAtOnce = Number.POSITIVE_INFINITY,
    giveUpMinutes,
    shared,
    listAllowances,
    metric,
  } = options;

  async function listStates(
    lane: Lane,
    workspaceIds: string[],
    dueBefore: Date,
  ): Promise<MessageAdmission[]> {
    const found = await listAdmissions(table, lane, workspaceIds, dueBefore);
    return giveUpMinutes ? found : found.map((state) => ({ ...state, blockedSince: null }));
  }

  async function capacitiesOf(lane: Lane, workspaceIds: string[], at: Date): Promise<Capacity[]> {
    const near = wakeBefore(at);
    const found = await listStates(lane, workspaceIds, near);
    const waiting = found.filter(({ hasParked }) => hasParked);
    const limited = waiting.filter(({ isLimited }) => isLimited).map(({ workspaceId }) => workspaceId);
    const allowances = limited.length > 0 ? await listAllowances?.(limited, at) : undefined;
    // Messages of a blocked workspace are admitted only when their time limit is over, so that they fail. The limit
    // runs from the block at the earliest (obstacles.ts).
    const overdue = new Date(at.getTime() - (giveUpMinutes?.[lane] ?? 0) * 60_000);
    const dueWhileBlocked = (since: Date) => (since <= overdue ? overdue : new Date(0));
    return waiting.map((admission) => {
      const { workspaceId, blockedSince, isLimited, admitted } = admission;
      const free = window() - admitted;
      const allowed = Math.min(free, allowances?.get(workspaceId) ?? Number.POSITIVE_INFINITY);
      return {
        ownerId: workspaceId,
        window: window(),
        admitted,
        free: blockedSince ? free : isHeld(admission, at) ? 0 : allowed,
        forLater: isLimited ? 0 : windowForLater(window()) - admitted,
        dueBefore: blockedSince ? dueWhileBlocked(blockedSince) : near,
      };
    });
  }

  const payloadIn = (jobLane: Lane, lane: Lane, { id, workspaceId }: { id: string; workspaceId: string }) =>
    payloadOf({ id, workspaceId, ...(jobLane === lane ? {} : { lane }) });

  /** Makes the jobs; returns the rows whose jobs Redis did not take. */
  function wakeAll(lane: Lane, rows: JobRow[]): Promise<JobRow[]> {
    return makeJobs(job, rows, {
      laneOf: ({ ownerId }) => laneOf(lane, ownerId),
      mostIn: (jobLane) => (jobLane === shared?.lane ? shared.most : 1),
      payloadOf: ([{ id, ownerId }, ...others], jobLane) => ({
        ...payloadIn(jobLane, lane, { id, workspaceId: ownerId }),
        ...(others.length > 0 && shared?.payloadOf(others)),
      }),
    });
  }

  const refill = refiller<Lane, 'sweep' | 'worker' | 'request'>({
    table,
    capacitiesOf,
    leastFree: { sweep: 0, worker: 0.3, request: 0 },
    wake: (lane, groups) =>
      wakeAll(
        lane,
        groups.flatMap(({ capacity, rows }) =>
          rows.map((row, index) => ({ ...row, rank: rankOf(capacity.admitted + index) })),
        ),
      ),
    mostAtOnce,
    note: (lane, admitted) => {
      if (metric) count(metric.admitted, { [metric.label]: lane }, admitted);
    },
  });

  const kind: WorkKind = {
    name,
    tables: [table],
    sweep: sweeper<Lane>({
      table,
      mostLost,
      wake: wakeAll,
      admit: async (lane, workspaceIds) => (await refill(lane, workspaceIds, 'sweep')).admitted,
    }),
    oldestDue: async (at) => {
      const times = table.lanes.order.map(async (lane) => {
        const key = metricOf(lane);
        if (key === null) return [];
        const { admitted, parked } = await findOldestDueMessages(
          table,
          lane,
          at,
          giveUpMinutes !== undefined,
        );
        return [[key, admitted] as const, [`${name}_backlog`, parked] as const];
      });
      return (await Promise.all(times)).flat();
    },
  };

  const { tryAdmit, checkSoon } = admissionWindows<Lane>({
    window,
    count: async (lane, workspaceId, dueBefore) => {
      const [found] = await listStates(lane, [workspaceId], dueBefore);
      if (!found) return null;
      const isBehind = found.hasParked || found.blockedSince !== null || isHeld(found, now());
      return { admitted: found.admitted, isLimited: found.isLimited, isBehind };
    },
    refill,
  });

  /**
   * Returns whether there is room for the job of a row. If so, the job is made at the end of the transaction; otherwise
   * the caller parks the row. `suffix` names a second job, for a row that is now due earlier than its first job.
   */
  function admit(lane: Lane, row: StoredRow, suffix = ''): boolean {
    const { workspaceId, requestId } = row;
    const dueAt = row.dueAt!;
    const permit = tryAdmit(lane, workspaceId, dueAt);
    if (permit.isGranted) {
      const jobLane = laneOf(lane, workspaceId);
      const payload = payloadIn(jobLane, lane, row);
      const id = jobName(row, suffix);
      enqueue(job, payload, { lane: jobLane, id, at: dueAt, requestId, priority: permit.rank });
      afterCommit(permit.committed);
    } else
      afterCommit(() => {
        if (metric?.parked) count(metric.parked, { [metric.label]: lane });
        checkSoon(lane, workspaceId);
      });
    return permit.isGranted;
  }

  return {
    admit,
    checkSoon,
    /** Returns whether a message that a worker gives back keeps a job until it is due again; otherwise it is parked. */
    keepsJob: (lane: Lane, workspaceId: string, dueAt: Date): boolean => {
      if (!isNear(dueAt)) return false;
      const permit = tryAdmit(lane, workspaceId, dueAt);
      // The row is committed already: until now it was counted as one that a worker holds.
      permit.committed();
      return permit.isGranted;
    },
    refill,
    /** Makes the function that gives the jobs in a process their turns. */
    turns: (slots: () => number, keptBesideOthers: Partial<Record<Lane, number>> = {}) =>
      turns({ lanes: table.lanes.order, slots, keptBesideOthers, window, refill }),
    /** Makes second jobs for rows that have one and are now due earlier. `suffix` names these jobs. */
    wakeSooner: (lane: Lane, rows: JobRow[], suffix: string) =>
      wakeAll(
        lane,
        rows.map((row) => ({ ...row, suffix })),
      ),
    /** Its sweep makes lost jobs again, and admits parked rows as far as there is room. */
    kind,
  };
}
