import { type Migration, tableOptions } from './migration.ts';

export const contactListCounts: Migration = {
  name: '0018_contact_list_counts',
  up: [
    // Of dynamic lists. counted_at: when member_count was right; until it is first counted to the end, member_count is an
    // estimate. count_wanted_at: since when another count is waited for.
    `ALTER TABLE contact_lists ADD COLUMN counted_at DATETIME(3) NULL,
      ADD COLUMN count_wanted_at DATETIME(3) NULL`,

    // The counting of a workspace's lists, one after the other, and how far it has come with the one in hand, taken up
    // from there after a crash. due_at: null while no count is wanted.
    `CREATE TABLE IF NOT EXISTS contact_list_counts (
      workspace_id BINARY(16) NOT NULL PRIMARY KEY,
      due_at DATETIME(3) NULL,
      lease_token BINARY(16) NULL,
      claims INT UNSIGNED NOT NULL DEFAULT 0,
      list_id BINARY(16) NULL,
      filter TEXT NULL,
      after_contact_id BINARY(16) NULL,
      counted INT UNSIGNED NOT NULL DEFAULT 0,
      began_at DATETIME(3) NULL,
      worked_ms INT UNSIGNED NOT NULL DEFAULT 0,
      KEY contact_list_counts_due (due_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS contact_list_counts',
    'ALTER TABLE contact_lists DROP COLUMN counted_at, DROP COLUMN count_wanted_at',
  ],
};
