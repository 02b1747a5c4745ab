import { z } from 'zod';
import { defineJob } from './job.ts';

/** Lets a phone of the simulator report a text, and reply to it if the phone is one that replies. */
export const simulatorAnswer = defineJob({
  name: 'simulator-answer',
  lanes: { default: 'simulator-answer' },
  payload: z.object({
    reference: z.string(),
    /** Absent from jobs of an older version. */
    workspaceId: z.string().optional(),
  }),
});
