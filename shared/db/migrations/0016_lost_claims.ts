import type { Migration } from './migration.ts';

export const lostClaims: Migration = {
  name: '0016_lost_claims',
  up: [
    // How many workers have died, or lost their lease, with the delivery in hand.
    'ALTER TABLE webhook_deliveries ADD COLUMN lost_claims SMALLINT UNSIGNED NOT NULL DEFAULT 0',
  ],
  down: ['ALTER TABLE webhook_deliveries DROP COLUMN lost_claims'],
};
