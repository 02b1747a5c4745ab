import { z } from 'zod';
import { defineJob } from './job.ts';

/** One attempt to deliver one event to one webhook. First attempts never queue behind retries. */
export const deliverWebhook = defineJob({
  name: 'deliver-webhook',
  lanes: { first: 'deliver-webhook', retry: 'deliver-webhook-retry' },
  payload: z.object({ deliveryId: z.string() }),
});
