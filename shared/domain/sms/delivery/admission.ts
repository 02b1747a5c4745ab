import { count } from '../../../common/metrics.ts';
import { config } from '../../../config/config.ts';
import { afterCommit } from '../../../db/client.ts';
import { smsMessages } from '../../../db/sms/messages.system.ts';
import type { SmsRecord } from '../../../db/sms/messages.ts';
import { sendSms } from '../../../jobs/send-sms.ts';
import { enqueue } from '../../../queue/queue.ts';
import { jobName } from '../../../work/job-name.ts';
import { messageAdmission } from '../../work/message-admission.ts';
import { giveUpMinutes } from './times.ts';

/**
 * This many texts of a batch share a job: a job of its own would cost Redis and the worker as much as all other work on
 * a text.
 */
export const textsPerJob = 10;

/** Which texts have a job in Redis, and which wait in their rows. */
export const { tryAdmit, keepsJob, checkSoon, refill, sweep } = messageAdmission({
  messages: smsMessages,
  job: sendSms,
  payloadOf: ({ id, workspaceId }) => ({ smsId: id, workspaceId }),
  shared: {
    lane: 'bulk',
    most: textsPerJob,
    payloadOf: (others) => ({ others: others.map(({ id, requestId }) => ({ smsId: id, requestId })) }),
  },
  window: () => config.SMS_JOBS_PER_WORKSPACE,
  mostAtOnce: 100,
  giveUpMinutes: { urgent: giveUpMinutes, default: giveUpMinutes, bulk: giveUpMinutes },
  metric: { name: 'sms_admitted', label: 'lane' },
});

/**
 * Returns the text as it is to be stored as queued. Where there is room for its job, the end of the transaction makes
 * the job; otherwise the text is parked, as a text is that is due much later.
 */
export function admit(message: SmsRecord): SmsRecord {
  const { id, workspaceId, lane, requestId } = message;
  const dueAt = message.dueAt!;
  if (message.parked) return message;
  const permit = tryAdmit(lane, workspaceId, dueAt);
  if (permit.isGranted) {
    enqueue(
      sendSms,
      { smsId: id, workspaceId },
      { lane, id: jobName(message), at: dueAt, requestId, priority: permit.rank },
    );
    afterCommit(permit.committed);
  } else
    afterCommit(() => {
      count('sms_parked', { lane });
      checkSoon(lane, workspaceId);
    });
  return { ...message, parked: !permit.isGranted };
}
