import type { Migration } from './migration.ts';

export const sendingBlockedAt: Migration = {
  name: '0061_sending_blocked_at',
  up: [
    // Since when it may not send. Null: it may, or the version before has blocked it.
    'ALTER TABLE workspaces ADD COLUMN sending_blocked_at DATETIME(3) NULL',
  ],
  down: ['ALTER TABLE workspaces DROP COLUMN sending_blocked_at'],
};
