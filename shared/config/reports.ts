import { integer, number } from './kinds.ts';

/** Settings of the reports. */
export const reportSettings = {
  REPORT_BATCH: integer(5_000, { min: 1, max: 10_000 }).describe('Events that the reports count at a time'),
  REPORT_EVERY_SECONDS: number(4, { min: 0.1, max: 60 }).describe(
    'How often the reports look for new events',
  ),
  REPORT_RETENTION_DAYS: number(800, { min: 400 }).describe(
    'Figures of reports are kept this long, by whole months',
  ),
  REPORTS_AT_ONCE: integer(2, { min: 1 }).describe(
    'Reports that a workspace may run at the same time, in all processes together; further reports wait for 2 seconds, and are then refused. While Redis is away each process counts its own',
  ),
  REPORT_SECONDS: number(5, { min: 0.1 }).describe(
    'How long one of them may take; then the server ends its statement, and it gets 503',
  ),
};
