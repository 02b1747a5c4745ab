import { z } from 'zod';
import { defineJob } from './job.ts';

/** Checks the DNS of a sending domain whose check is due. */
export const checkDomains = defineJob({
  name: 'check-domains',
  lanes: { default: 'check-domains' },
  // Jobs of an older version name no domain: they meant all domains that were due.
  payload: z.object({ domainId: z.string().optional() }),
});
