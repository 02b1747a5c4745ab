import { config } from '../../shared/config.ts';
import * as smsDelivery from '../../shared/domain/sms-delivery.ts';
import { sendSms } from '../../shared/jobs/send-sms.ts';
import { handle } from '../handle.ts';

export default handle(sendSms, { concurrency: config.SMS_CONCURRENCY }, (turn, lane) =>
  smsDelivery.deliver(lane, turn),
);
