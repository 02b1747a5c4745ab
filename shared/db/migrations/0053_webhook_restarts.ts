import type { Migration } from './migration.ts';

export const webhookRestarts: Migration = {
  name: '0053_webhook_restarts',
  up: [
    // When a delivery was last sent again on request: its schedule and its seven days run from then on. Null: from its event.
    'ALTER TABLE webhook_deliveries ADD COLUMN restarted_at DATETIME(3) NULL',
  ],
  down: ['ALTER TABLE webhook_deliveries DROP COLUMN restarted_at'],
};
