import { type Migration, tableOptions } from './migration.ts';

export const smsGateways: Migration = {
  name: '0035_sms_gateways',
  up: [
    // Of texts of several parts: what the gateway calls each, which its receipts name.
    `CREATE TABLE IF NOT EXISTS sms_parts (
      gateway VARBINARY(20) NOT NULL,
      reference VARBINARY(64) NOT NULL,
      sms_id BINARY(16) NOT NULL,
      part SMALLINT UNSIGNED NOT NULL,
      delivered TINYINT NOT NULL DEFAULT 0,
      taken_at DATETIME(3) NOT NULL,
      PRIMARY KEY (gateway, reference),
      KEY sms_parts_of_sms (sms_id),
      KEY sms_parts_taken (taken_at)
    ) ${tableOptions}`,

    // Of texts that come in parts: those that are there already.
    `CREATE TABLE IF NOT EXISTS sms_inbound_parts (
      gateway VARBINARY(20) NOT NULL,
      sender VARBINARY(20) NOT NULL,
      recipient VARBINARY(20) NOT NULL,
      reference INT UNSIGNED NOT NULL,
      total SMALLINT UNSIGNED NOT NULL,
      part SMALLINT UNSIGNED NOT NULL,
      content TEXT NOT NULL,
      received_at DATETIME(3) NOT NULL,
      PRIMARY KEY (gateway, sender, recipient, reference, total, part),
      KEY sms_inbound_parts_received (received_at)
    ) ${tableOptions}`,

    // Texts that are kept, and whose gateway has not been told so yet: it may bring them again.
    `CREATE TABLE IF NOT EXISTS sms_inbound_unanswered (
      digest BINARY(32) NOT NULL PRIMARY KEY,
      received_at DATETIME(3) NOT NULL,
      KEY sms_inbound_unanswered_received (received_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS sms_inbound_unanswered',
    'DROP TABLE IF EXISTS sms_inbound_parts',
    'DROP TABLE IF EXISTS sms_parts',
  ],
};
