import { config } from '../../shared/config/config.ts';
import * as emailDelivery from '../../shared/domain/email/delivery/delivery.ts';
import { sendEmail } from '../../shared/jobs/send-email.ts';
import { handle } from '../handle.ts';

export default handle(sendEmail, { concurrency: config.EMAIL_CONCURRENCY }, (turn, lane, isStalled) =>
  emailDelivery.deliver(lane, turn, isStalled),
);
