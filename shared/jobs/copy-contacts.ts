import { z } from 'zod';
import { defineJob } from './job.ts';

/** Copies members of contact lists into another list, from the point that the copy has reached. */
export const copyContacts = defineJob({
  name: 'copy-contacts',
  lanes: { default: 'copy-contacts' },
  payload: z.object({
    copyId: z.string(),
    /** Absent from jobs of an older version. */
    workspaceId: z.string().optional(),
  }),
});
