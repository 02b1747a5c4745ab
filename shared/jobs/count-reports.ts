import { z } from 'zod';
import { defineJob } from './job.ts';

/** Counts what new events tell of in the reports, and sums up the ledger of text messages. */
export const countReports = defineJob({
  name: 'count-reports',
  lanes: { default: 'count-reports' },
  payload: z.object({}),
});
