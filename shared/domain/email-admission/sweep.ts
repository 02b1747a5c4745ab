import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import type { EmailKind } from '../../db/emails.ts';
import * as system from '../../db/system/email-admission.ts';
import { oneByOne } from '../retry-times.ts';
import { rounds } from '../rounds.ts';
import { wakeAll } from './lanes.ts';
import { refill } from './refill.ts';

// Workspaces at a time.
const pageSize = 500;
// Of lost jobs, in one run and lane: shared out among the workspaces that miss some.
const mostLost = 500;
const fewestLost = 10;
// Let in by one run; the rest is brought on by the emails themselves, and by the next run.
const mostLetIn = 20_000;
const letInAtOnce = 50;

// One-time codes first: what a workspace may send within its limits is theirs before all others.
const kinds: EmailKind[] = ['authentication', 'transactional', 'marketing'];

const roundsOf = (parked: boolean, most: number) =>
  kinds.map((kind) => ({
    kind,
    round: rounds({
      id: 'workspaceId',
      list: (after, limit) => system.listWorkspacesWaiting(kind, parked, after, limit),
      pageSize,
      most,
    }),
  }));
const lostRounds = roundsOf(false, mostLost);
const parkedRounds = roundsOf(true, mostLetIn);

/** Names another job beside the one that a row has, where that is not trusted to run. */
type JobSuffix = (dueAt: Date) => string;

/** Both of the following; returns how many emails it looked at. */
export async function sweep(overdueBefore: Date, suffixOf: JobSuffix): Promise<number> {
  // Mostly there are none of a kind: a question for all of them, and none for each.
  const queued = await system.listQueuedKinds();
  const of = (wanted: boolean) => queued.flatMap(({ kind, parked }) => (parked === wanted ? kind : []));
  return (await wakeLost(of(false), overdueBefore, suffixOf)) + (await letInParked(of(true)));
}

/** Makes again the jobs of emails that have been due for a while: a flushed Redis, a dead worker. */
async function wakeLost(present: EmailKind[], overdueBefore: Date, suffixOf: JobSuffix): Promise<number> {
  let seen = 0;
  for (const { kind, round } of lostRounds.filter(({ kind }) => present.includes(kind)))
    seen += await round(overdueBefore, async (workspaceIds, left) => {
      const limit = Math.max(fewestLost, Math.floor(left / workspaceIds.length));
      const lost = await system.listDueOf(
        kind,
        false,
        workspaceIds.map((workspaceId) => ({ workspaceId, dueBefore: overdueBefore, limit })),
      );
      await wakeAll(
        kind,
        lost.map((email) => ({
          ...email,
          dueAt: email.isLeft ? oneByOne(now()) : email.dueAt,
          rank: 0,
          suffix: suffixOf(email.dueAt),
        })),
      );
      return lost.length;
    });
  return seen;
}

/** Lets in what has waited for its time, for room, or for a limit to allow it. */
async function letInParked(present: EmailKind[]): Promise<number> {
  const near = new Date(now().getTime() + config.WAKE_AHEAD_SECONDS * 1000);
  let seen = 0;
  for (const { kind, round } of parkedRounds.filter(({ kind }) => present.includes(kind)))
    seen += await round(near, async (workspaceIds) => {
      let admitted = 0;
      for (let start = 0; start < workspaceIds.length; start += letInAtOnce)
        admitted += await refill(kind, workspaceIds.slice(start, start + letInAtOnce), 'sweep');
      return admitted;
    });
  return seen;
}
