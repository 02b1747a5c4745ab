import { type Migration, tableOptions } from './migration.ts';

export const webhookDelivery: Migration = {
  name: '0006_webhook_delivery',
  up: [
    // failing_since to last_failed_at: the outage; recovered_at: its end, from which the backlog is let out slowly.
    `ALTER TABLE webhooks
      ADD COLUMN last_failed_at DATETIME(3) NULL,
      ADD COLUMN recovered_at DATETIME(3) NULL,
      ADD COLUMN disabled_at DATETIME(3) NULL,
      ADD KEY webhooks_failing (active, failing_since)`,

    // body_version: which body its first attempt sent, for all attempts send the same bytes; null before it.
    `ALTER TABLE webhook_deliveries ADD COLUMN body_version VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NULL`,
    // Index for admission: admitted (parked = 0) or parked deliveries of a webhook, by due_at. A webhook with a million
    // of them is one step of a search for the others.
    `ALTER TABLE webhook_deliveries
      ADD KEY webhook_deliveries_admission (status, parked, webhook_id, due_at),
      ADD KEY webhook_deliveries_listed_by_status (webhook_id, status, id),
      ADD KEY webhook_deliveries_listed_by_type (webhook_id, event_type, id)`,
    // Whatever looks for what is due looks webhook by webhook, and an index costs time at each of its changes.
    'ALTER TABLE webhook_deliveries DROP KEY webhook_deliveries_by_status',
    'ALTER TABLE webhook_deliveries DROP KEY webhook_deliveries_due',

    // Attempts before the latest, which is on the delivery itself: most deliveries have one only.
    `CREATE TABLE IF NOT EXISTS webhook_attempts (
      delivery_id BINARY(16) NOT NULL,
      number INT UNSIGNED NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      attempted_at DATETIME(3) NOT NULL,
      duration_ms INT UNSIGNED NOT NULL,
      response_status SMALLINT UNSIGNED NULL,
      response_body VARCHAR(1024) NULL,
      error VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
      PRIMARY KEY (delivery_id, number)
    ) ${tableOptions}`,

    // Work to be done to many deliveries of a webhook, a batch at a time: skip what is pending, or send again
    // what failed or was skipped since a time.
    `CREATE TABLE IF NOT EXISTS webhook_settlements (
      webhook_id BINARY(16) NOT NULL,
      kind VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      since DATETIME(3) NULL,
      created_at DATETIME(3) NOT NULL,
      PRIMARY KEY (webhook_id, kind)
    ) ${tableOptions}`,

    // When each host was last reached and last failed: many failing at once are a fault of our own network.
    `CREATE TABLE IF NOT EXISTS webhook_hosts (
      host VARBINARY(260) NOT NULL PRIMARY KEY,
      succeeded_at DATETIME(3) NULL,
      failed_at DATETIME(3) NULL,
      tried_at DATETIME(3) NOT NULL,
      KEY webhook_hosts_tried (tried_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS webhook_hosts',
    'DROP TABLE IF EXISTS webhook_settlements',
    'DROP TABLE IF EXISTS webhook_attempts',
    'ALTER TABLE webhook_deliveries ADD KEY webhook_deliveries_due (status, parked, due_at)',
    'ALTER TABLE webhook_deliveries ADD KEY webhook_deliveries_by_status (webhook_id, status, due_at)',
    `ALTER TABLE webhook_deliveries
      DROP KEY webhook_deliveries_admission, DROP KEY webhook_deliveries_listed_by_status,
      DROP KEY webhook_deliveries_listed_by_type`,
    'ALTER TABLE webhook_deliveries DROP COLUMN body_version',
    `ALTER TABLE webhooks
      DROP KEY webhooks_failing, DROP COLUMN last_failed_at, DROP COLUMN recovered_at, DROP COLUMN disabled_at`,
  ],
};
