import { z } from 'zod';
import { defineJob } from './job.ts';

/** Deletes records whose retention has ended, in small batches, and recounts what workspaces have waiting. */
export const purgeExpired = defineJob({
  name: 'purge-expired',
  lanes: { default: 'purge-expired' },
  payload: z.object({}),
});
