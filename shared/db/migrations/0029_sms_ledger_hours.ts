import { type Migration, tableOptions } from './migration.ts';

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin';

export const smsLedgerHours: Migration = {
  name: '0029_sms_ledger_hours',
  up: [
    // What the entries of the ledger come to by hour and kind, so that nobody adds up a month of them.
    `CREATE TABLE IF NOT EXISTS sms_ledger_hours (
      workspace_id BINARY(16) NOT NULL,
      hour DATETIME NOT NULL,
      kind VARCHAR(8) ${ascii} NOT NULL,
      amount BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, hour, kind)
    ) ${tableOptions}`,

    // One row: the entries with ids below \`reached\` are in the hours.
    `CREATE TABLE IF NOT EXISTS sms_ledger_mark (
      one TINYINT NOT NULL PRIMARY KEY,
      reached BINARY(16) NOT NULL
    ) ${tableOptions}`,
    "INSERT IGNORE INTO sms_ledger_mark (one, reached) VALUES (1, UNHEX(REPEAT('0', 32)))",
  ],
  down: ['DROP TABLE IF EXISTS sms_ledger_mark', 'DROP TABLE IF EXISTS sms_ledger_hours'],
};
