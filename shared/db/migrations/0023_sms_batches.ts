import { type Migration, tableOptions } from './migration.ts';

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin';

export const smsBatches: Migration = {
  name: '0023_sms_batches',
  up: [
    // status, lane, due_at, parked, lease_token, claims, retries, request_id: the columns of all work that is due
    // status: `queued` as long as something is left to do
    // state: the caller sees it
    // content, data: as they were when the batch was accepted, a template's too
    // list_index, list_after: how far the members of the lists are copied
    // next_position: the first row that is no message yet
    // cancelled_up_to: how far the messages of a cancelled batch are cancelled
    // paused_cost, paused_parts: of the first message that could not be paid, or did not fit the limit
    `CREATE TABLE IF NOT EXISTS sms_batches (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      status VARCHAR(10) ${ascii} NOT NULL,
      lane ENUM('expand', 'follow') NOT NULL,
      due_at DATETIME(3) NULL,
      parked TINYINT NOT NULL DEFAULT 0,
      lease_token BINARY(16) NULL,
      claims INT UNSIGNED NOT NULL DEFAULT 0,
      retries INT UNSIGNED NOT NULL DEFAULT 0,
      request_id VARBINARY(128) NULL,
      state VARCHAR(10) ${ascii} NOT NULL,
      source VARCHAR(10) ${ascii} NOT NULL,
      sender VARBINARY(256) NULL,
      content TEXT NULL,
      template_name VARBINARY(256) NULL,
      data MEDIUMTEXT NULL,
      unicode VARCHAR(5) ${ascii} NOT NULL,
      shorten_links TINYINT NOT NULL DEFAULT 0,
      client_reference VARBINARY(256) NULL,
      client_tag VARBINARY(64) NULL,
      lineage_id BINARY(16) NOT NULL,
      lists TEXT NULL,
      list_index SMALLINT UNSIGNED NOT NULL DEFAULT 0,
      list_after BINARY(16) NULL,
      row_count INT UNSIGNED NOT NULL DEFAULT 0,
      next_position INT UNSIGNED NOT NULL DEFAULT 0,
      expanding TINYINT NOT NULL,
      rows_kept TINYINT NOT NULL DEFAULT 1,
      cancelled_up_to BINARY(16) NULL,
      paused_reason VARCHAR(24) ${ascii} NULL,
      paused_cost BIGINT NULL,
      paused_parts INT UNSIGNED NULL,
      event_seq INT UNSIGNED NOT NULL DEFAULT 0,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      scheduled_at DATETIME(3) NULL,
      started_at DATETIME(3) NULL,
      completed_at DATETIME(3) NULL,
      KEY sms_batches_admission (status, lane, parked, workspace_id, due_at),
      KEY sms_batches_listed (workspace_id, id),
      KEY sms_batches_by_state (workspace_id, state, id),
      KEY sms_batches_by_reference (workspace_id, client_reference, id),
      KEY sms_batches_by_tag (workspace_id, client_tag, id),
      KEY sms_batches_of_rows (rows_kept, status),
      KEY sms_batches_completed (completed_at)
    ) ${tableOptions}`,

    // Rows that become messages, in this order. once: the number, or null where a number may come twice.
    `CREATE TABLE IF NOT EXISTS sms_batch_rows (
      batch_id BINARY(16) NOT NULL,
      position INT UNSIGNED NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      once VARBINARY(20) NULL,
      country CHAR(2) ${ascii} NULL,
      contact_id BINARY(16) NULL,
      sender VARBINARY(256) NULL,
      content TEXT NULL,
      unicode VARCHAR(5) ${ascii} NULL,
      client_reference VARBINARY(256) NULL,
      data MEDIUMTEXT NULL,
      PRIMARY KEY (batch_id, position),
      UNIQUE KEY sms_batch_rows_once (batch_id, once)
    ) ${tableOptions}`,

    // How many of a batch have each status, to be added up over its shards: transactions that commit at once add to
    // different ones. waiting: rows that are no message yet. Parts and costs are of the messages made so far.
    `CREATE TABLE IF NOT EXISTS sms_batch_counts (
      batch_id BINARY(16) NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      shard TINYINT UNSIGNED NOT NULL,
      waiting BIGINT NOT NULL,
      queued BIGINT NOT NULL,
      sent BIGINT NOT NULL,
      delivered BIGINT NOT NULL,
      failed BIGINT NOT NULL,
      cancelled BIGINT NOT NULL,
      parts BIGINT NOT NULL,
      cost_gbp BIGINT NOT NULL,
      cost_eur BIGINT NOT NULL,
      sent_at DATETIME(3) NULL,
      changed_at DATETIME(3) NOT NULL,
      PRIMARY KEY (batch_id, shard)
    ) ${tableOptions}`,

    'ALTER TABLE sms_messages ADD KEY sms_by_batch (workspace_id, batch_id, id)',
  ],
  down: [
    'ALTER TABLE sms_messages DROP KEY sms_by_batch',
    'DROP TABLE IF EXISTS sms_batch_counts',
    'DROP TABLE IF EXISTS sms_batch_rows',
    'DROP TABLE IF EXISTS sms_batches',
  ],
};
