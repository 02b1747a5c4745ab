import { type Migration, tableOptions } from './migration.ts';

export const email: Migration = {
  name: '0002_email',
  up: [
    `CREATE TABLE IF NOT EXISTS email_domains (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARBINARY(255) NOT NULL,
      status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      dkim_selector VARBINARY(63) NOT NULL,
      dkim_private_key BLOB NOT NULL,
      dkim_public_key TEXT NOT NULL,
      created_at DATETIME(3) NOT NULL,
      verified_at DATETIME(3) NULL,
      last_checked_at DATETIME(3) NULL,
      UNIQUE KEY email_domains_name (workspace_id, name)
    ) ${tableOptions}`,

    // due_at: the time of the next work on the row. While a worker holds it (lease_token), the end of the lease. So one
    // index finds rows that are due, rows whose job is lost, and rows that a dead worker left.
    // parked: the row has no job in Redis on purpose, because it is due much later
    `CREATE TABLE IF NOT EXISTS emails (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      kind VARCHAR(14) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      sender VARCHAR(256) NOT NULL,
      recipient VARCHAR(256) NOT NULL,
      recipient_key VARBINARY(256) NOT NULL,
      subject VARCHAR(1000) NOT NULL,
      text_excerpt VARCHAR(2000) NULL,
      reason_category VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
      reason_code VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL,
      reason_description VARCHAR(1000) NULL,
      reason_retryable TINYINT NULL,
      client_reference VARBINARY(256) NULL,
      client_tag VARBINARY(64) NULL,
      track_opens TINYINT NOT NULL,
      bypass_suppressions TINYINT NOT NULL,
      open_count INT UNSIGNED NOT NULL DEFAULT 0,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      scheduled_at DATETIME(3) NULL,
      sent_at DATETIME(3) NULL,
      delivered_at DATETIME(3) NULL,
      opened_at DATETIME(3) NULL,
      due_at DATETIME(3) NULL,
      parked TINYINT NOT NULL,
      lease_token BINARY(16) NULL,
      claims INT UNSIGNED NOT NULL DEFAULT 0,
      retries INT UNSIGNED NOT NULL DEFAULT 0,
      uncertain_count INT UNSIGNED NOT NULL DEFAULT 0,
      handover_at DATETIME(3) NULL,
      event_seq INT UNSIGNED NOT NULL,
      request_id VARBINARY(128) NULL,
      KEY emails_listed (workspace_id, id),
      KEY emails_by_status (workspace_id, status, id),
      KEY emails_by_kind (workspace_id, kind, id),
      KEY emails_by_recipient (workspace_id, recipient_key, id),
      KEY emails_by_reference (workspace_id, client_reference, id),
      KEY emails_by_tag (workspace_id, client_tag, id),
      KEY emails_due (status, kind, parked, due_at)
    ) ${tableOptions}`,

    // The rendered parts, until the email is handed over, failed or cancelled.
    `CREATE TABLE IF NOT EXISTS email_bodies (
      email_id BINARY(16) NOT NULL PRIMARY KEY,
      html MEDIUMTEXT NULL,
      text MEDIUMTEXT NULL
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS email_bodies',
    'DROP TABLE IF EXISTS emails',
    'DROP TABLE IF EXISTS email_domains',
  ],
};
