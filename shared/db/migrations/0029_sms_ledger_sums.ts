import { type Migration, tableOptions } from './migration.ts';

export const smsLedgerSums: Migration = {
  name: '0029_sms_ledger_sums',
  up: [
    // Sums of the ledger's entries by hour, so that a month or a year of them is few rows. start: hours since 1970.
    `CREATE TABLE IF NOT EXISTS sms_ledger_sums (
      workspace_id BINARY(16) NOT NULL,
      start INT UNSIGNED NOT NULL,
      kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      amount BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, start, kind),
      KEY sms_ledger_sums_kept (start)
    ) ${tableOptions}`,
    // Milliseconds since 1970: entries whose ids were made before are in the sums, all others are not.
    "INSERT IGNORE INTO counters (name, value) VALUES ('sms_ledger.summed', 0)",
  ],
  down: ["DELETE FROM counters WHERE name = 'sms_ledger.summed'", 'DROP TABLE IF EXISTS sms_ledger_sums'],
};
