import { type Migration, tableOptions } from './migration.ts';

export const emailTemplates: Migration = {
  name: '0008_email_templates',
  up: [
    // version rises with every change, and updated_at with some of them only. sample_data: JSON text.
    `CREATE TABLE IF NOT EXISTS email_templates (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARBINARY(64) NOT NULL,
      description VARCHAR(256) NULL,
      format VARCHAR(4) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      html MEDIUMTEXT NOT NULL,
      text MEDIUMTEXT NOT NULL,
      sample_data TEXT NULL,
      version INT UNSIGNED NOT NULL DEFAULT 1,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      UNIQUE KEY email_templates_name (workspace_id, name),
      KEY email_templates_listed (workspace_id, id)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS email_includes (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARBINARY(64) NOT NULL,
      content MEDIUMTEXT NOT NULL,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      UNIQUE KEY email_includes_name (workspace_id, name),
      KEY email_includes_listed (workspace_id, id)
    ) ${tableOptions}`,

    // Which template or include names which include: what their sources say, kept with them.
    `CREATE TABLE IF NOT EXISTS email_include_uses (
      workspace_id BINARY(16) NOT NULL,
      include_name VARBINARY(64) NOT NULL,
      user_id BINARY(16) NOT NULL,
      user_kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      PRIMARY KEY (workspace_id, include_name, user_id),
      KEY email_include_uses_of_user (user_id)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS email_include_uses',
    'DROP TABLE IF EXISTS email_includes',
    'DROP TABLE IF EXISTS email_templates',
  ],
};
