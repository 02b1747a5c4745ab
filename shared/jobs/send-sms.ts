import { z } from 'zod';
import { defineJob } from './job.ts';

/** Hands one text message over. */
export const sendSms = defineJob({
  name: 'send-sms',
  lanes: { default: 'send-sms' },
  payload: z.object({ smsId: z.string() }),
});
