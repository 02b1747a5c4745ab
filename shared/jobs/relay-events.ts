import { z } from 'zod';
import { defineJob } from './job.ts';

/** Numbers committed events and creates the deliveries of subscribed webhooks. */
export const relayEvents = defineJob({
  name: 'relay-events',
  lanes: { default: 'relay-events' },
  payload: z.object({}),
});
