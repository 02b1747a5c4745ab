import type { EmailKind } from '../../db/emails.ts';
import { sendEmail } from '../../jobs/send-email.ts';
import { enqueueAll } from '../../queue.ts';

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
    const jobs = turns.slice(start, start + atOnce).map(toJob);
    if (!(await enqueueAll(sendEmail, kind, jobs))) return turns.slice(start);
  }
  return [];
}

function toJob({ id, workspaceId, claims, dueAt, requestId, rank, suffix }: Turn) {
  return {
    payload: { emailId: id, workspaceId },
    id: `${id}-${claims + 1}${suffix ?? ''}`,
    at: dueAt,
    requestId,
    priority: rank,
  };
}
