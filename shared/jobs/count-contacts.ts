import { z } from 'zod';
import { defineJob } from './job.ts';

/** Counts the dynamic lists of a workspace whose counts are awaited, from the point that the counting has reached. */
export const countContacts = defineJob({
  name: 'count-contacts',
  lanes: { default: 'count-contacts' },
  payload: z.object({ workspaceId: z.string() }),
});
