import { z } from 'zod';
import { defineJob } from './job.ts';

/** A phone of the simulator reports a text, and replies to it if it is one that does. */
export const simulatorAnswer = defineJob({
  name: 'simulator-answer',
  lanes: { default: 'simulator-answer' },
  payload: z.object({
    reference: z.string(),
    /** Absent from jobs of an older version. */
    workspaceId: z.string().optional(),
  }),
});
