import { z } from 'zod';
import { defineJob } from './job.ts';

/** Holds the clock against the webhooks that fail: warns of them, and switches them off when their window ends. */
export const webhookHealth = defineJob({
  name: 'webhook-health',
  lanes: { default: 'webhook-health' },
  payload: z.object({}),
});
