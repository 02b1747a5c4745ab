import type { Migration } from './migration.ts';

export const senderRequests: Migration = {
  name: '0058_sender_requests',
  up: [
    // When the sender was requested for the country. Null: with the sender itself, or from the version before.
    'ALTER TABLE sender_countries ADD COLUMN requested_at DATETIME(3) NULL',
  ],
  down: ['ALTER TABLE sender_countries DROP COLUMN requested_at'],
};
