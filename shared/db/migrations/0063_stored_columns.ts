import type { Migration } from './migration.ts';

const columnsOfTexts = (kind: 'STORED' | 'VIRTUAL') => `ALTER TABLE sms_messages
  DROP KEY sms_held, DROP KEY sms_put_off, DROP COLUMN held_until, DROP COLUMN put_off_until,
  ADD COLUMN held_until DATETIME(3) AS (IF(status = 'held', due_at, NULL)) ${kind},
  ADD COLUMN put_off_until DATETIME(3) AS (IF(status = 'queued' AND lease_token IS NULL
    AND handover_at IS NULL AND handover_gateway IS NOT NULL, due_at, NULL)) ${kind},
  ADD KEY sms_held (held_until), ADD KEY sms_put_off (put_off_until)`;

const columnsOfCopies = (kind: 'STORED' | 'VIRTUAL') => `ALTER TABLE contact_list_copies
  DROP KEY contact_list_copies_admission, DROP COLUMN status,
  ADD COLUMN status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin
    AS (IF(due_at IS NULL, 'over', 'waiting')) ${kind},
  ADD KEY contact_list_copies_admission (status, parked, workspace_id, due_at)`;

export const storedColumns: Migration = {
  name: '0063_stored_columns',
  up: [
    // InnoDB's purge opens the table of an indexed VIRTUAL column through the SQL layer. In fault runs a Galera node
    // that was killed opened sms_messages again and again, took more memory each time, and did not start.
    // Each table is changed by one statement, so that no query ever misses its index.
    columnsOfTexts('STORED'),
    columnsOfCopies('STORED'),
  ],
  down: [columnsOfCopies('VIRTUAL'), columnsOfTexts('VIRTUAL')],
};
