import { z } from 'zod';

/** Settings of the reports. */
export const reportSettings = {
  REPORT_BATCH: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(5_000)
    .describe('Events that the reports count at a time'),
  REPORT_EVERY_SECONDS: z.coerce
    .number()
    .min(0.1)
    .max(60)
    .default(2)
    .describe('How often the reports look for new events'),
  REPORT_RETENTION_DAYS: z.coerce
    .number()
    .min(400)
    .default(800)
    .describe('Figures of reports are kept this long, by whole months'),
  REPORTS_AT_ONCE: z.coerce
    .number()
    .int()
    .min(1)
    .default(2)
    .describe(
      'Reports that a workspace has in hand at a time, in all processes together; more of them wait for 2 seconds, then they are refused. While Redis is away each process counts its own',
    ),
  REPORT_SECONDS: z.coerce
    .number()
    .min(0.1)
    .default(5)
    .describe('How long one of them may take; then the server ends its statement, and it gets 503'),
};
