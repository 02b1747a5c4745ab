import type { SmsRecord } from '../../db/sms-messages.ts';
import { sendSms } from '../../jobs/send-sms.ts';
import { enqueue } from '../../queue.ts';

/** Once the transaction has committed. The job's id names the claim that it leads to, so waking twice makes one job. */
export function wake(message: SmsRecord): void {
  if (message.parked) return;
  enqueue(
    sendSms,
    { smsId: message.id },
    {
      lane: 'default',
      id: `${message.id}-${message.claims + 1}`,
      at: message.dueAt,
      requestId: message.requestId,
    },
  );
}
