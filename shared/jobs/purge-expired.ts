import { z } from 'zod';
import { defineJob } from './job.ts';

/** Deletes what retention has run out for, in small batches. */
export const purgeExpired = defineJob({
  name: 'purge-expired',
  lanes: { default: 'purge-expired' },
  payload: z.object({}),
});
