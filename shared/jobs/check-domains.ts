import { z } from 'zod';
import { defineJob } from './job.ts';

/** Looks at the DNS of a sending domain that it is time for. */
export const checkDomains = defineJob({
  name: 'check-domains',
  lanes: { default: 'check-domains' },
  // Jobs of an older version name no domain, and meant all that were due.
  payload: z.object({ domainId: z.string().optional() }),
});
