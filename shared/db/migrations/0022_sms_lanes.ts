import type { Migration } from './migration.ts';

export const smsLanes: Migration = {
  name: '0022_sms_lanes',
  up: [
    // Rows of before are single texts. sms_due stays: held texts are found by it, and the version before names it.
    `ALTER TABLE sms_messages
      ADD COLUMN lane ENUM('urgent', 'default', 'bulk') NOT NULL DEFAULT 'default',
      ADD KEY sms_admission (status, lane, parked, workspace_id, due_at)`,
  ],
  down: ['ALTER TABLE sms_messages DROP KEY sms_admission, DROP COLUMN lane'],
};
