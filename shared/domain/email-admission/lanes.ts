import type { EmailKind } from '../../db/emails.ts';
import { sendEmail } from '../../jobs/send-email.ts';
import { enqueueAll } from '../../queue.ts';
import { laneOf } from './precedence.ts';

/** A job to be made: `claims` names the turn that it is for, and so the job. */
export type Turn = {
  id: string;
  workspaceId: string;
  claims: number;
  dueAt: Date;
  requestId: string | null;
  rank: number;
  /** Where a job under the usual name is not trusted to run. */
  suffix?: string;
};

/** More at once would keep the process from the emails that it has in hand. */
const atOnce = 50;

/** Makes the jobs. Returns those that Redis did not take. */
export async function wakeAll(kind: EmailKind, turns: Turn[]): Promise<Turn[]> {
  for (let start = 0; start < turns.length; start += atOnce) {
    const some = turns.slice(start, start + atOnce);
    for (const [lane, inLane] of Map.groupBy(some, ({ workspaceId }) => laneOf(kind, workspaceId))) {
      const jobs = inLane.map((turn) => toJob(turn, lane === kind ? {} : { kind }));
      // Those that it has taken already find out for themselves whose turn it is.
      if (!(await enqueueAll(sendEmail, lane, jobs))) return turns.slice(start);
    }
  }
  return [];
}

function toJob(turn: Turn, other: { kind?: EmailKind }) {
  const { id, workspaceId, claims, dueAt, requestId, rank, suffix } = turn;
  return {
    payload: { emailId: id, workspaceId, ...other },
    id: `${id}-${claims + 1}${suffix ?? ''}`,
    at: dueAt,
    requestId,
    priority: rank,
  };
}
