import type { Migration } from './migration.ts';

export const webhookPauseEnds: Migration = {
  name: '0060_webhook_pause_ends',
  up: [
    // When a pause was last ended: answers to attempts from before bring none. Null: never, or by the version before.
    'ALTER TABLE webhooks ADD COLUMN pause_ended_at DATETIME(3) NULL',
  ],
  down: ['ALTER TABLE webhooks DROP COLUMN pause_ended_at'],
};
