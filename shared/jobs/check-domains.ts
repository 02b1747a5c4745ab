import { z } from 'zod';
import { defineJob } from './job.ts';

/** Looks at the DNS of the sending domains that it is time for. */
export const checkDomains = defineJob({
  name: 'check-domains',
  lanes: { default: 'check-domains' },
  payload: z.object({}),
});
