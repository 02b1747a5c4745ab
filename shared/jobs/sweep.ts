import { z } from 'zod';
import { defineJob } from './job.ts';

/** Re-creates every job that should be in Redis and is not. */
export const sweep = defineJob({
  name: 'sweep',
  lanes: { default: 'sweep' },
  payload: z.object({}),
});
