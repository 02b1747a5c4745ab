import type { Migration } from './migration.ts';

export const contactListCopyWindows: Migration = {
  name: '0044_contact_list_copy_windows',
  up: [
    // Copies of a workspace that have a job in Redis are so many at most; the others are parked. The status follows from
    // due_at, because the version before ends a copy without a word about it.
    `ALTER TABLE contact_list_copies
      ADD COLUMN parked TINYINT NOT NULL DEFAULT 0,
      ADD COLUMN status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin
        AS (IF(due_at IS NULL, 'over', 'waiting')) VIRTUAL,
      ADD KEY contact_list_copies_admission (status, parked, workspace_id, due_at)`,
  ],
  down: [
    `ALTER TABLE contact_list_copies DROP KEY contact_list_copies_admission, DROP COLUMN status,
      DROP COLUMN parked`,
  ],
};
