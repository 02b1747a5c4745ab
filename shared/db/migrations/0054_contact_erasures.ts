import { type Migration, tableOptions } from './migration.ts';

export const contactErasures: Migration = {
  name: '0054_contact_erasures',
  up: [
    // Contacts that are gone and whose texts may still have their id.
    `CREATE TABLE IF NOT EXISTS contact_erasures (
      contact_id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL
    ) ${tableOptions}`,
  ],
  down: ['DROP TABLE IF EXISTS contact_erasures'],
};
