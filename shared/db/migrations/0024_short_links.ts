import { type Migration, tableOptions } from './migration.ts';

export const shortLinks: Migration = {
  name: '0024_short_links',
  up: [
    // By message, so that the links of one are next to each other and old ones are the start of the table.
    // token_hash: a visitor's token is looked up by it
    // token: the same token, sealed, for the sender of the text
    // written_hash: of a batch's link, the URL as it was written before rendering; short_link_totals has its text
    `CREATE TABLE IF NOT EXISTS short_links (
      sms_id BINARY(16) NOT NULL,
      place TINYINT UNSIGNED NOT NULL,
      id BINARY(16) NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      batch_id BINARY(16) NULL,
      written_hash BINARY(16) NULL,
      url VARCHAR(2048) NOT NULL,
      token_hash BINARY(16) NOT NULL,
      token VARBINARY(128) NOT NULL,
      clicks INT UNSIGNED NOT NULL DEFAULT 0,
      first_clicked_at DATETIME(3) NULL,
      last_clicked_at DATETIME(3) NULL,
      PRIMARY KEY (sms_id, place),
      UNIQUE KEY short_links_token (token_hash)
    ) ${tableOptions}`,

    // The same of a batch, by URL as it was written: a million links are not added up for each look at them.
    `CREATE TABLE IF NOT EXISTS short_link_totals (
      batch_id BINARY(16) NOT NULL,
      written_hash BINARY(16) NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      url VARCHAR(2048) NOT NULL,
      messages INT UNSIGNED NOT NULL,
      clicks INT UNSIGNED NOT NULL DEFAULT 0,
      clicked_messages INT UNSIGNED NOT NULL DEFAULT 0,
      first_clicked_at DATETIME(3) NULL,
      last_clicked_at DATETIME(3) NULL,
      PRIMARY KEY (batch_id, written_hash),
      KEY short_link_totals_listed (batch_id, clicks)
    ) ${tableOptions}`,
  ],
  down: ['DROP TABLE IF EXISTS short_link_totals', 'DROP TABLE IF EXISTS short_links'],
};
