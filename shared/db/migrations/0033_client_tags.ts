import type { Migration } from './migration.ts';

const tables = ['emails', 'sms_messages', 'sms_batches'];

/** A tag has up to 64 characters, and letters of any script, which take up to four bytes. */
export const clientTags: Migration = {
  name: '0033_client_tags',
  up: tables.map((table) => `ALTER TABLE ${table} MODIFY client_tag VARBINARY(256) NULL`),
  down: tables.flatMap((table) => [
    // The version before stores hyphens in place of such letters.
    `UPDATE ${table} SET client_tag = NULL WHERE LENGTH(client_tag) > 64`,
    `ALTER TABLE ${table} MODIFY client_tag VARBINARY(64) NULL`,
  ]),
};
