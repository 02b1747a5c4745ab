import { z } from 'zod';
import { defineJob } from './job.ts';

/**
 * Skips the waiting deliveries of a webhook that is gone or switched off, or sends failed deliveries of a webhook
 * again, in small batches.
 */
export const settleWebhook = defineJob({
  name: 'settle-webhook',
  lanes: { default: 'settle-webhook' },
  payload: z.object({ webhookId: z.string() }),
});
