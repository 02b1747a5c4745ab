import { type Migration, tableOptions } from './migration.ts';

export const emailSending: Migration = {
  name: '0011_email_sending',
  up: [
    // How many emails go out in any such time; null: as many as there are. emails_held_until: the limit is used up.
    `ALTER TABLE workspaces
      ADD COLUMN emails_per_minute INT UNSIGNED NULL,
      ADD COLUMN emails_per_hour INT UNSIGNED NULL,
      ADD COLUMN emails_per_day INT UNSIGNED NULL,
      ADD COLUMN emails_held_until DATETIME(3) NULL`,

    // tried_at: the first hand-over, from which the time for retries runs.
    'ALTER TABLE emails ADD COLUMN tried_at DATETIME(3) NULL',
    // Index for admission: admitted (parked = 0) or parked messages of a workspace, by due_at. A workspace with a million
    // of them is one step of a search for the others.
    'ALTER TABLE emails ADD KEY emails_admission (status, kind, parked, workspace_id, due_at)',
    // Whatever looks for what is due looks workspace by workspace, and an index costs time at each of its changes.
    'ALTER TABLE emails DROP KEY emails_due',

    // How many emails of a limited workspace went out in each sixtieth of a minute, an hour, a day.
    `CREATE TABLE IF NOT EXISTS email_sendings (
      workspace_id BINARY(16) NOT NULL,
      period VARCHAR(6) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      slot BIGINT UNSIGNED NOT NULL,
      emails INT UNSIGNED NOT NULL,
      PRIMARY KEY (workspace_id, period, slot)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS email_sendings',
    'ALTER TABLE emails ADD KEY emails_due (status, kind, parked, due_at)',
    'ALTER TABLE emails DROP KEY emails_admission',
    'ALTER TABLE emails DROP COLUMN tried_at',
    `ALTER TABLE workspaces
      DROP COLUMN emails_per_minute, DROP COLUMN emails_per_hour, DROP COLUMN emails_per_day,
      DROP COLUMN emails_held_until`,
  ],
};
