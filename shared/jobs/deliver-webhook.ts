import { z } from 'zod';
import { defineJob } from './job.ts';

/**
 * A turn of one delivery of one event to one webhook. First attempts that never had to wait for room never queue behind
 * what had to. `more`: others of this webhook wait for room, and are let in after this one.
 */
export const deliverWebhook = defineJob({
  name: 'deliver-webhook',
  lanes: { first: 'deliver-webhook', retry: 'deliver-webhook-retry' },
  payload: z.object({ deliveryId: z.string(), webhookId: z.string(), more: z.boolean().optional() }),
});
