import type { Migration } from './migration.ts';

/**
 * Reports count events, which are kept for days; messages are kept for months. Where messages were accepted before there were
 * reports, they are counted from the messages themselves: from this hour (since 1970) back, one hour after the other. 0: there
 * are none left.
 */
export const reportBackfill: Migration = {
  name: '0039_report_backfill',
  up: [
    `INSERT IGNORE INTO counters (name, value)
     SELECT 'reports.backfill', IF(EXISTS (SELECT 1 FROM emails) OR EXISTS (SELECT 1 FROM sms_messages),
       FLOOR(UNIX_TIMESTAMP() / 3600) + 1, 0)`,
  ],
  down: ["DELETE FROM counters WHERE name = 'reports.backfill'"],
};
