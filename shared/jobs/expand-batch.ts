import { z } from 'zod';
import { defineJob } from './job.ts';

/** Goes on with a batch of texts: makes messages of its rows, and then looks when all of them have come to their end. */
export const expandBatch = defineJob({
  name: 'expand-batch',
  lanes: { expand: 'expand-batch', follow: 'expand-batch-follow' },
  payload: z.object({ batchId: z.string(), workspaceId: z.string() }),
});
