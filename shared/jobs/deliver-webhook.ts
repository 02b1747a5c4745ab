import { z } from 'zod';
import { defineJob } from './job.ts';

/**
 * Attempts one delivery, or a few deliveries of one webhook that are due at once (`others`, each with its own request).
 * A first attempt that never waited for room never queues behind deliveries that did. `more`: further deliveries of
 * this webhook wait for room, and are admitted afterwards. `dueAt` (ms since the epoch) shows how far the lane has
 * come.
 */
export const deliverWebhook = defineJob({
  name: 'deliver-webhook',
  lanes: { first: 'deliver-webhook', retry: 'deliver-webhook-retry' },
  payload: z.object({
    deliveryId: z.string(),
    webhookId: z.string(),
    dueAt: z.number().optional(),
    more: z.boolean().optional(),
    others: z.array(z.object({ deliveryId: z.string(), requestId: z.string().nullable() })).optional(),
  }),
});
