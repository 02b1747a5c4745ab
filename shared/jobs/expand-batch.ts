import { z } from 'zod';
import { defineJob } from './job.ts';

/** Continues a batch of texts: makes messages of its rows, and then checks whether all of them have ended. */
export const expandBatch = defineJob({
  name: 'expand-batch',
  lanes: { expand: 'expand-batch', follow: 'expand-batch-follow' },
  payload: z.object({ batchId: z.string(), workspaceId: z.string() }),
});
