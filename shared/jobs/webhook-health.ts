import { z } from 'zod';
import { defineJob } from './job.ts';

/** Checks for how long webhooks have failed: warns of them, and switches them off when their window ends. */
export const webhookHealth = defineJob({
  name: 'webhook-health',
  lanes: { default: 'webhook-health' },
  payload: z.object({}),
});
