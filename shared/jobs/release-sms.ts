import { z } from 'zod';
import { defineJob } from './job.ts';

/** Releases the held messages that a workspace can pay for now, and makes its paused batches check again. */
export const releaseSms = defineJob({
  name: 'release-sms',
  lanes: { default: 'release-sms' },
  payload: z.object({ workspaceId: z.string() }),
});
