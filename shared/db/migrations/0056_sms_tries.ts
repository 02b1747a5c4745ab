import type { Migration } from './migration.ts';

export const smsTries: Migration = {
  name: '0056_sms_tries',
  up: [
    // tried_at: the first hand-over, from which the time for retries runs. Null: not tried, or only by the version before.
    'ALTER TABLE sms_messages ADD COLUMN tried_at DATETIME(3) NULL',
  ],
  down: ['ALTER TABLE sms_messages DROP COLUMN tried_at'],
};
