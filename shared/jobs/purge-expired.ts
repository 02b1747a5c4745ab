import { z } from 'zod';
import { defineJob } from './job.ts';

/**
 * Deletes records whose retention has ended, in small batches, and counts again how many messages of each workspace
 * wait.
 */
export const purgeExpired = defineJob({
  name: 'purge-expired',
  lanes: { default: 'purge-expired' },
  payload: z.object({}),
});
