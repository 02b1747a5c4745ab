import type { Migration } from './migration.ts';

export const workSince: Migration = {
  name: '0057_work_since',
  up: [
    // Since when the texts of a deleted contact are to forget it. Null: the version before deleted the contact.
    `ALTER TABLE contact_erasures ADD COLUMN created_at DATETIME(3) NULL,
      ADD KEY contact_erasures_created (created_at)`,
    // The oldest of each is read often, for the operator's alarms.
    'ALTER TABLE webhook_settlements ADD KEY webhook_settlements_created (created_at)',
  ],
  down: [
    'ALTER TABLE webhook_settlements DROP KEY webhook_settlements_created',
    'ALTER TABLE contact_erasures DROP KEY contact_erasures_created, DROP COLUMN created_at',
  ],
};
