import { z } from 'zod';
import { defineJob } from './job.ts';

/** Hands one text message over. A million texts of batches never stand before a single one. */
export const sendSms = defineJob({
  name: 'send-sms',
  lanes: { urgent: 'send-sms-urgent', default: 'send-sms', bulk: 'send-sms-bulk' },
  payload: z.object({ smsId: z.string(), workspaceId: z.string().optional() }),
});
