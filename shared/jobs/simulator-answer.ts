import { z } from 'zod';
import { defineJob } from './job.ts';

/** Makes a phone of the simulator report a text. If the phone is one that replies, it also replies. */
export const simulatorAnswer = defineJob({
  name: 'simulator-answer',
  lanes: { default: 'simulator-answer' },
  payload: z.object({
    reference: z.string(),
    /** Absent from jobs of an older version. */
    workspaceId: z.string().optional(),
  }),
});
