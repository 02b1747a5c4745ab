import { type Migration, tableOptions } from './migration.ts';

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin';

export const sms: Migration = {
  name: '0015_sms',
  up: [
    // Money in ten-thousandths. charged: what the balance was charged; lineage_id: the key whose parts are reserved.
    // due_at: when it is to be sent, the end of the lease while a worker has it, or when a held one expires.
    // batch_id: for batches. gateway and gateway_reference: what its receipts name.
    `CREATE TABLE IF NOT EXISTS sms_messages (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      direction VARCHAR(8) ${ascii} NOT NULL,
      status VARCHAR(10) ${ascii} NOT NULL,
      sender VARBINARY(20) NOT NULL,
      recipient VARBINARY(20) NOT NULL,
      content TEXT NOT NULL,
      country CHAR(2) ${ascii} NULL,
      parts SMALLINT UNSIGNED NOT NULL,
      encoding VARCHAR(4) ${ascii} NOT NULL,
      cost_gbp BIGINT NULL,
      cost_eur BIGINT NULL,
      charged BIGINT NOT NULL DEFAULT 0,
      lineage_id BINARY(16) NULL,
      reason_category VARCHAR(16) ${ascii} NULL,
      reason_code VARCHAR(40) ${ascii} NULL,
      reason_description VARCHAR(1000) NULL,
      reason_retryable TINYINT NULL,
      client_reference VARBINARY(256) NULL,
      client_tag VARBINARY(64) NULL,
      batch_id BINARY(16) NULL,
      contact_id BINARY(16) NULL,
      template_name VARBINARY(256) NULL,
      in_reply_to BINARY(16) NULL,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      scheduled_at DATETIME(3) NULL,
      sent_at DATETIME(3) NULL,
      delivered_at DATETIME(3) NULL,
      due_at DATETIME(3) NULL,
      parked TINYINT NOT NULL DEFAULT 0,
      lease_token BINARY(16) NULL,
      claims INT UNSIGNED NOT NULL DEFAULT 0,
      retries INT UNSIGNED NOT NULL DEFAULT 0,
      uncertain_count INT UNSIGNED NOT NULL DEFAULT 0,
      handover_at DATETIME(3) NULL,
      gateway VARBINARY(20) NULL,
      gateway_reference VARBINARY(64) NULL,
      event_seq INT UNSIGNED NOT NULL,
      request_id VARBINARY(128) NULL,
      KEY sms_listed (workspace_id, id),
      KEY sms_by_status (status, workspace_id, id),
      KEY sms_by_direction (workspace_id, direction, id),
      KEY sms_by_recipient (workspace_id, recipient, id),
      KEY sms_by_sender (workspace_id, sender, id),
      KEY sms_by_reference (workspace_id, client_reference, id),
      KEY sms_by_tag (workspace_id, client_tag, id),
      KEY sms_due (status, parked, due_at),
      KEY sms_of_gateway (gateway_reference, gateway)
    ) ${tableOptions}`,

    // The balance that a workspace may still spend; one without a row spends without limit.
    `CREATE TABLE IF NOT EXISTS sms_balances (
      workspace_id BINARY(16) NOT NULL PRIMARY KEY,
      balance BIGINT NOT NULL
    ) ${tableOptions}`,

    // Each change of a balance, once for each message and kind.
    `CREATE TABLE IF NOT EXISTS sms_ledger (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      kind VARCHAR(8) ${ascii} NOT NULL,
      amount BIGINT NOT NULL,
      sms_id BINARY(16) NULL,
      note VARCHAR(256) NULL,
      created_at DATETIME(3) NOT NULL,
      UNIQUE KEY sms_ledger_once (sms_id, kind),
      KEY sms_ledger_listed (workspace_id, id)
    ) ${tableOptions}`,

    // Receipts that came before their message was known by that reference.
    `CREATE TABLE IF NOT EXISTS sms_receipts_unmatched (
      gateway VARBINARY(20) NOT NULL,
      reference VARBINARY(64) NOT NULL,
      reason_category VARCHAR(16) ${ascii} NULL,
      reason_code VARCHAR(40) ${ascii} NULL,
      reason_description VARCHAR(1000) NULL,
      reason_retryable TINYINT NULL,
      received_at DATETIME(3) NOT NULL,
      PRIMARY KEY (gateway, reference),
      KEY sms_receipts_unmatched_received (received_at)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS simulator_phones (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      created_at DATETIME(3) NOT NULL,
      UNIQUE KEY simulator_phones_number (workspace_id, number),
      KEY simulator_phones_listed (workspace_id, id)
    ) ${tableOptions}`,

    // The actions that a phone of the simulator still owes to a text: to report it, and to answer where its number does
    // so.
    `CREATE TABLE IF NOT EXISTS simulator_answers (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      sender VARBINARY(20) NOT NULL,
      due_at DATETIME(3) NOT NULL,
      KEY simulator_answers_due (due_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS simulator_answers',
    'DROP TABLE IF EXISTS simulator_phones',
    'DROP TABLE IF EXISTS sms_receipts_unmatched',
    'DROP TABLE IF EXISTS sms_ledger',
    'DROP TABLE IF EXISTS sms_balances',
    'DROP TABLE IF EXISTS sms_messages',
  ],
};
