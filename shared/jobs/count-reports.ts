import { z } from 'zod';
import { defineJob } from './job.ts';

/** Counts new events in the reports, and sums up the ledger of text messages. */
export const countReports = defineJob({
  name: 'count-reports',
  lanes: { default: 'count-reports' },
  payload: z.object({}),
});
