import { config } from '../../../config/config.ts';
import { listDueJobs } from '../../../db/email/admission.system.ts';
import { emailTable } from '../../../db/email/emails.system.ts';
import { listAllowances } from '../../../db/email/limits.system.ts';
import { sendEmail } from '../../../jobs/send-email.ts';
import { soonMs } from '../../../work/refill.ts';
import { messageAdmission } from '../../work/message-admission.ts';
import { giveUpMinutes } from '../delivery/times.ts';
import { laneOf } from './precedence.ts';

export { giveTurnBack, takeTurn } from './limits.ts';

/** Decides which emails have a job in Redis and which wait as rows. */
export const { admit, keepsJob, turns, kind } = messageAdmission({
  name: 'email',
  metricOf: (lane) => `email_${lane}`,
  table: emailTable,
  job: sendEmail,
  payloadOf: ({ id, workspaceId, lane }) => ({ emailId: id, workspaceId, ...(lane && { kind: lane }) }),
  laneOf,
  window: () => config.EMAIL_JOBS_PER_WORKSPACE,
  mostAtOnce: 50,
  giveUpMinutes,
  // The allowance is for all lanes together: emails that were admitted before are of kinds that come first.
  listAllowances: async (workspaceIds, at) => {
    const allowances = await listAllowances(workspaceIds, at);
    const onTheirWay = await listDueJobs(workspaceIds, new Date(at.getTime() + soonMs));
    return new Map(
      [...allowances].map(([workspaceId, left]) => [workspaceId, left - (onTheirWay.get(workspaceId) ?? 0)]),
    );
  },
  metric: { admitted: 'emails_admitted', parked: 'emails_parked', label: 'kind' },
});
