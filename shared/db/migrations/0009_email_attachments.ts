import { type Migration, tableOptions } from './migration.ts';

export const emailAttachments: Migration = {
  name: '0009_email_attachments',
  up: [
    // They live as long as the body, which says how many there are: an email must not go out without one of them.
    'ALTER TABLE email_bodies ADD COLUMN attachment_count SMALLINT UNSIGNED NOT NULL DEFAULT 0',
    `CREATE TABLE IF NOT EXISTS email_attachments (
      email_id BINARY(16) NOT NULL,
      position SMALLINT UNSIGNED NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      filename VARCHAR(255) NOT NULL,
      size_bytes INT UNSIGNED NOT NULL,
      PRIMARY KEY (email_id, position)
    ) ${tableOptions}`,
    `CREATE TABLE IF NOT EXISTS email_attachment_chunks (
      email_id BINARY(16) NOT NULL,
      position SMALLINT UNSIGNED NOT NULL,
      number SMALLINT UNSIGNED NOT NULL,
      bytes MEDIUMBLOB NOT NULL,
      PRIMARY KEY (email_id, position, number)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS email_attachment_chunks',
    'DROP TABLE IF EXISTS email_attachments',
    'ALTER TABLE email_bodies DROP COLUMN attachment_count',
  ],
};
