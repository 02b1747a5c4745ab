import { type Migration, tableOptions } from './migration.ts';

export const smsPricesTemplates: Migration = {
  name: '0013_sms_prices_templates',
  up: [
    // Per part, in ten-thousandths; null: no price in that currency. A row holds until the next one of its country.
    `CREATE TABLE IF NOT EXISTS sms_prices (
      country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      valid_from DATETIME(3) NOT NULL,
      gbp INT UNSIGNED NULL,
      eur INT UNSIGNED NULL,
      PRIMARY KEY (country, valid_from)
    ) ${tableOptions}`,

    // version rises with every change. sample_data: JSON text.
    `CREATE TABLE IF NOT EXISTS sms_templates (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARBINARY(256) NOT NULL,
      description VARCHAR(1000) NULL,
      content TEXT NOT NULL,
      sample_data TEXT NULL,
      version INT UNSIGNED NOT NULL DEFAULT 1,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      UNIQUE KEY sms_templates_name (workspace_id, name),
      KEY sms_templates_listed (workspace_id, id)
    ) ${tableOptions}`,
  ],
  down: ['DROP TABLE IF EXISTS sms_templates', 'DROP TABLE IF EXISTS sms_prices'],
};
