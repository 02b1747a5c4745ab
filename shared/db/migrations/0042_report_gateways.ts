import type { Migration } from './migration.ts';

const columns = `accepted, queued, held, sent, delivered, failed, cancelled, hard_bounces, soft_bounces, rejected,
  suppressed, complaints, opened, parts, cost_gbp, cost_eur, spent, spent_parts, spent_gbp, spent_eur, charged`;
const dimensions = "'all', 'tag', 'country', 'gateway', 'key', 'recipient_domain', 'sending_domain'";

/**
 * Texts by country and gateway (`route`), and those that failed by their error code too (`error`); times by gateway. Before
 * this the counts of a country named no gateway. They stand under none until the texts of the hour are counted anew.
 */
export const reportGateways: Migration = {
  name: '0042_report_gateways',
  up: [
    `ALTER TABLE report_counts MODIFY dimension ENUM(${dimensions}, 'route', 'error') NOT NULL`,
    // A process of the version before names no gateway.
    `ALTER TABLE report_latencies ADD COLUMN gateway VARBINARY(20) NOT NULL DEFAULT '', DROP PRIMARY KEY,
      ADD PRIMARY KEY (workspace_id, span, start, channel, kind, gateway, step, bucket)`,
    `INSERT IGNORE INTO report_counts (workspace_id, span, start, channel, dimension, value, ${columns})
     SELECT workspace_id, span, start, channel, 'route', CONCAT(value, ' '), ${columns} FROM report_counts
     WHERE dimension = 'country'`,
    `UPDATE counters SET value = FLOOR(UNIX_TIMESTAMP() / 3600) + 1
     WHERE name = 'reports.backfill' AND EXISTS (SELECT 1 FROM sms_messages)`,
  ],
  down: [
    "DELETE FROM report_counts WHERE dimension IN ('route', 'error')",
    `ALTER TABLE report_counts MODIFY dimension ENUM(${dimensions}) NOT NULL`,
    // The sums of all gateways, under a name that none has until they are alone: it may run again at any moment.
    `REPLACE INTO report_latencies (workspace_id, span, start, channel, kind, gateway, step, bucket, messages)
     SELECT workspace_id, span, start, channel, kind, '*', step, bucket, SUM(messages) FROM report_latencies
     WHERE gateway <> '*' GROUP BY workspace_id, span, start, channel, kind, step, bucket`,
    "DELETE FROM report_latencies WHERE gateway <> '*'",
    "UPDATE report_latencies SET gateway = ''",
    `ALTER TABLE report_latencies DROP PRIMARY KEY,
      ADD PRIMARY KEY (workspace_id, span, start, channel, kind, step, bucket), DROP COLUMN gateway`,
  ],
};
