import { type Migration, tableOptions } from './migration.ts';

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin';
// start: hours since 1970. Every question names the columns before it, so a range of time is a range of rows.
const place = `workspace_id BINARY(16) NOT NULL,
      span ENUM('hour', 'day', 'month') NOT NULL,
      start INT UNSIGNED NOT NULL,
      channel ENUM('email', 'sms') NOT NULL`;

export const reports: Migration = {
  name: '0030_reports',
  up: [
    // Messages that were accepted in an hour, and their outcomes since. Days and months in UTC have rows of their own, so
    // that a year is few rows.
    // value: of the dimension, as bytes; empty if a message has none
    // cost_*, spent_*, charged: money in ten-thousandths
    // spent: messages that are paid for, or would be if nothing is counted
    `CREATE TABLE IF NOT EXISTS report_counts (
      ${place},
      dimension ENUM('all', 'tag', 'country', 'gateway', 'key', 'recipient_domain', 'sending_domain') NOT NULL,
      value VARBINARY(256) NOT NULL,
      accepted INT NOT NULL,
      queued INT NOT NULL,
      held INT NOT NULL,
      sent INT NOT NULL,
      delivered INT NOT NULL,
      failed INT NOT NULL,
      cancelled INT NOT NULL,
      hard_bounces INT NOT NULL,
      soft_bounces INT NOT NULL,
      rejected INT NOT NULL,
      suppressed INT NOT NULL,
      complaints INT NOT NULL,
      opened INT NOT NULL,
      parts BIGINT NOT NULL,
      cost_gbp BIGINT NOT NULL,
      cost_eur BIGINT NOT NULL,
      spent INT NOT NULL,
      spent_parts BIGINT NOT NULL,
      spent_gbp BIGINT NOT NULL,
      spent_eur BIGINT NOT NULL,
      charged BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, dimension, span, start, channel, value),
      KEY report_counts_kept (start)
    ) ${tableOptions}`,

    // How many messages took how long, by buckets of shared/formats/latency-buckets.ts.
    `CREATE TABLE IF NOT EXISTS report_latencies (
      ${place},
      kind VARCHAR(14) ${ascii} NOT NULL,
      step ENUM('sent', 'delivered') NOT NULL,
      bucket SMALLINT UNSIGNED NOT NULL,
      messages INT NOT NULL,
      PRIMARY KEY (workspace_id, span, start, channel, kind, step, bucket),
      KEY report_latencies_kept (start)
    ) ${tableOptions}`,

    // How each message was last counted, so that a later change takes back what it replaces.
    `CREATE TABLE IF NOT EXISTS report_states (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      counted VARBINARY(100) NOT NULL
    ) ${tableOptions}`,

    // Which tags and domains count under their own name on a day; those beyond the limit count together.
    `CREATE TABLE IF NOT EXISTS report_names (
      workspace_id BINARY(16) NOT NULL,
      dimension ENUM('tag', 'recipient_domain') NOT NULL,
      day INT UNSIGNED NOT NULL,
      name VARBINARY(256) NOT NULL,
      PRIMARY KEY (workspace_id, dimension, day, name),
      KEY report_names_kept (day)
    ) ${tableOptions}`,
    "INSERT IGNORE INTO counters (name, value) VALUES ('reports.position', 0)",
  ],
  down: [
    "DELETE FROM counters WHERE name = 'reports.position'",
    'DROP TABLE IF EXISTS report_names',
    'DROP TABLE IF EXISTS report_states',
    'DROP TABLE IF EXISTS report_latencies',
    'DROP TABLE IF EXISTS report_counts',
  ],
};
