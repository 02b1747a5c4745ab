import type { Migration } from './migration.ts';

export const contactListMembersAdded: Migration = {
  name: '0049_contact_list_members_added',
  up: [
    // When the contact became a member, so that a list can be read as it was. Null: before this column, or by the version
    // before.
    'ALTER TABLE contact_list_members ADD COLUMN added_at DATETIME(3) NULL',
  ],
  down: ['ALTER TABLE contact_list_members DROP COLUMN added_at'],
};
