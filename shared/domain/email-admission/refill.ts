import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import type { EmailKind } from '../../db/emails.ts';
import * as system from '../../db/system/email-admission.ts';
import { listAllowances } from '../../db/system/email-limits.ts';
import { count } from '../../metrics.ts';
import { giveUpMinutes } from '../email-delivery/times.ts';
import { type Turn, wakeAll } from './lanes.ts';
import { rankOf, soonMs, windowForLater } from './window.ts';

/** The part of the window that must be free: the fewer the times, the more there is to let in each time. */
const leastFree = { sweep: 0, worker: 0.3, request: 0 };

/** In one go, so that neither Redis nor this process is busy with them for long; the emails themselves bring on the next. */
const mostAtOnce = 50;

type Room = { workspaceId: string; room: number; forLater: number; admitted: number; dueBefore: Date };

/**
 * Lets emails of these workspaces into Redis, first due first, as far as there is room. What a limit or the operator
 * holds back stays where it is. Returns how many were let in.
 */
export async function refill(
  kind: EmailKind,
  workspaceIds: string[],
  by: keyof typeof leastFree,
): Promise<number> {
  const time = now();
  const near = new Date(time.getTime() + config.WAKE_AHEAD_SECONDS * 1000);
  const window = config.EMAIL_JOBS_PER_WORKSPACE;
  const waiting = (await system.listAdmissions(kind, workspaceIds, near)).filter(
    ({ hasParked }) => hasParked,
  );
  const rooms = (await roomsOf(kind, waiting, time, near)).filter(
    ({ room }) => room > 0 && room >= leastFree[by] * window,
  );
  const found = Map.groupBy(
    await system.listDueOf(
      kind,
      true,
      rooms.map(({ workspaceId, dueBefore, room }) => ({
        workspaceId,
        dueBefore,
        limit: Math.min(room, mostAtOnce),
      })),
    ),
    ({ workspaceId }) => workspaceId,
  );
  if (found.size === 0) return 0;
  // Counted again, after they were listed: two who do this at once then let in the same ones, or no more than there is
  // room for.
  const recounted = await system.listAdmissions(kind, [...found.keys()], near);
  const rest = await roomsOf(kind, recounted, time, near);
  return letIn(kind, rest, found, time);
}

async function roomsOf(
  kind: EmailKind,
  admissions: system.Admission[],
  time: Date,
  near: Date,
): Promise<Room[]> {
  const limited = admissions.filter(({ isLimited }) => isLimited).map(({ workspaceId }) => workspaceId);
  const allowances = await listAllowances(limited, time);
  const onTheirWay = await system.listDueJobs(limited, new Date(time.getTime() + soonMs));
  const overdue = new Date(time.getTime() - giveUpMinutes[kind] * 60_000);
  return admissions.map(({ workspaceId, sendingBlocked, isLimited, heldUntil, admitted }) => {
    const isHeld = !sendingBlocked && isLimited && heldUntil !== null && heldUntil > time;
    // Of all lanes together: those that were let in before are of kinds that come first.
    const allowance =
      (allowances.get(workspaceId) ?? Number.POSITIVE_INFINITY) - (onTheirWay.get(workspaceId) ?? 0);
    const room = config.EMAIL_JOBS_PER_WORKSPACE - admitted;
    return {
      workspaceId,
      admitted,
      room: sendingBlocked ? room : isHeld ? 0 : Math.min(room, allowance),
      forLater: isLimited ? 0 : windowForLater() - admitted,
      // Of a workspace that may not send only what has waited for too long, to fail.
      dueBefore: sendingBlocked ? overdue : near,
    };
  });
}

async function letIn(
  kind: EmailKind,
  rooms: Room[],
  found: Map<string, system.WaitingEmail[]>,
  time: Date,
): Promise<number> {
  const soon = time.getTime() + soonMs;
  const turns: Turn[] = rooms.flatMap(({ workspaceId, room, forLater, admitted }) =>
    (found.get(workspaceId) ?? [])
      .slice(0, Math.min(Math.max(0, room), mostAtOnce))
      .filter(({ dueAt }, index) => dueAt.getTime() <= soon || index < forLater)
      .map((email, index) => ({ ...email, rank: rankOf(admitted + index) })),
  );
  if (turns.length === 0) return 0;
  const ids = turns.map(({ id }) => id);
  // Before the jobs, so that two who do this at once let in the same ones, and the second knows it.
  const admitted = await system.updateAdmitted(ids, time);
  if (admitted === 0) return 0;
  const missed = await wakeAll(kind, turns);
  if (missed.length > 0) await system.updateParked(missed.map(({ id }) => id));
  const woken = Math.max(0, admitted - missed.length);
  if (woken > 0) count('emails_admitted', { kind }, woken);
  return woken;
}
