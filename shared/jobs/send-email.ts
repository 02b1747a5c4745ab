import { z } from 'zod';
import { emailLanes } from '../schemas/lanes.ts';
import { defineJob } from './job.ts';

/**
 * Hands one email over. Each kind has a lane, so that a million marketing emails do not delay a one-time code. `kind`
 * is set if it is not the kind of the lane.
 */
export const sendEmail = defineJob({
  name: 'send-email',
  lanes: {
    authentication: 'send-email-authentication',
    transactional: 'send-email',
    marketing: 'send-email-marketing',
  },
  payload: z.object({
    emailId: z.string(),
    workspaceId: z.string().optional(),
    kind: z.enum(emailLanes).optional(),
  }),
});
