import { z } from 'zod';
import { defineJob } from './job.ts';

/** Lets the held messages of a workspace go that it can pay for now, and has its paused batches look again. */
export const releaseSms = defineJob({
  name: 'release-sms',
  lanes: { default: 'release-sms' },
  payload: z.object({ workspaceId: z.string() }),
});
