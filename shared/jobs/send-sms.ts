import { z } from 'zod';
import { defineJob } from './job.ts';

/**
 * Hands one text over, or a few texts of one workspace that are due at once (`others`). A million texts of batches do
 * not delay a single text.
 */
export const sendSms = defineJob({
  name: 'send-sms',
  lanes: { urgent: 'send-sms-urgent', default: 'send-sms', bulk: 'send-sms-bulk' },
  payload: z.object({
    smsId: z.string(),
    workspaceId: z.string().optional(),
    others: z.array(z.object({ smsId: z.string(), requestId: z.string().nullable() })).optional(),
  }),
});
