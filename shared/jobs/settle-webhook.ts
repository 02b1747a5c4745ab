import { z } from 'zod';
import { defineJob } from './job.ts';

/** Skips what waits for a webhook that is gone or switched off, or sends again what failed, in small batches. */
export const settleWebhook = defineJob({
  name: 'settle-webhook',
  lanes: { default: 'settle-webhook' },
  payload: z.object({ webhookId: z.string() }),
});
