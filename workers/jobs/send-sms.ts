import * as smsDelivery from '../../shared/domain/sms/delivery/delivery.ts';
import { sendSms } from '../../shared/jobs/send-sms.ts';
import { handle } from '../handle.ts';

export default handle(sendSms, { concurrency: smsDelivery.jobConcurrency }, (turn, lane, isStalled) =>
  smsDelivery.deliver(lane, turn, isStalled),
);
