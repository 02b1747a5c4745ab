import { config } from '../../../config/config.ts';
import { smsTable } from '../../../db/sms/messages.system.ts';
import type { SmsRecord } from '../../../db/sms/messages.ts';
import { sendSms } from '../../../jobs/send-sms.ts';
import { messageAdmission } from '../../work/message-admission.ts';
import { giveUpMinutes } from './times.ts';

/**
 * This many texts of a batch share a job: a job for each text would cost Redis and the worker as much as all other work
 * on the text.
 */
export const textsPerJob = 10;

/** Decides which texts have a job in Redis and which wait as rows. */
const admission = messageAdmission({
  name: 'sms',
  table: smsTable,
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
  metric: { admitted: 'sms_admitted', parked: 'sms_parked', label: 'lane' },
});
export const { keepsJob, checkSoon, refill, turns, kind, wakeSooner } = admission;

/**
 * Returns the queued text as it is to be stored. If there is room, its job is made at the end of the transaction.
 * Otherwise the text is parked, like a text that is due much later.
 */
export function admit(message: SmsRecord): SmsRecord {
  return { ...message, parked: message.parked || !admission.admit(message.lane, message) };
}
