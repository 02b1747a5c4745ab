import { z } from 'zod';
import { defineJob } from './job.ts';

/**
 * A turn of one delivery of one event to one webhook, or of a few that are due at once (`others`, each with its own
 * request). First attempts that never waited for room never queue behind deliveries that did. `more`: other deliveries
 * of this webhook wait for room, and are admitted after these. `dueAt` (ms since the epoch) shows how far the lane has
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
