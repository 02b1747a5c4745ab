import { z } from 'zod';
import { defineJob } from './job.ts';

/** Counts the dynamic lists of a workspace whose counts are waited for, from where the counting has come to. */
export const countContacts = defineJob({
  name: 'count-contacts',
  lanes: { default: 'count-contacts' },
  payload: z.object({ workspaceId: z.string() }),
});
