import { type Migration, tableOptions } from './migration.ts';

export const addressBook: Migration = {
  name: '0007_address_book',
  up: [
    // Of one workspace the rows lie together, in order of creation: a page of the listing is one piece of the table.
    // tags: a sorted JSON array. national: the digits as they are dialled at home; reversed: those of the E.164
    // number from its end, so that "its last digits" is a prefix too. Keys and words are what search compares: folded;
    // the words are the first of each name.
    // Every index ends with the primary key, so what they find comes with its id.
    `CREATE TABLE IF NOT EXISTS contacts (
      workspace_id BINARY(16) NOT NULL,
      id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      national VARBINARY(20) NOT NULL,
      reversed VARBINARY(20) NOT NULL,
      country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NULL,
      first_name VARCHAR(80) NULL,
      last_name VARCHAR(80) NULL,
      company VARCHAR(120) NULL,
      first_name_word VARBINARY(48) NULL,
      last_name_word VARBINARY(48) NULL,
      company_word VARBINARY(48) NULL,
      email VARCHAR(256) NULL,
      email_key VARBINARY(64) NULL,
      client_reference VARCHAR(128) NULL,
      client_reference_key VARBINARY(64) NULL,
      tags TEXT NOT NULL,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      PRIMARY KEY (workspace_id, id),
      UNIQUE KEY contacts_number (workspace_id, number),
      KEY contacts_national (workspace_id, national),
      KEY contacts_reversed (workspace_id, reversed),
      KEY contacts_first_name (workspace_id, first_name_word),
      KEY contacts_last_name (workspace_id, last_name_word),
      KEY contacts_company (workspace_id, company_word),
      KEY contacts_email (workspace_id, email_key),
      KEY contacts_client_reference (workspace_id, client_reference_key)
    ) ${tableOptions}`,

    // The further words of a contact's names. Which ones it has follows from its row.
    `CREATE TABLE IF NOT EXISTS contact_words (
      workspace_id BINARY(16) NOT NULL,
      word VARBINARY(48) NOT NULL,
      contact_id BINARY(16) NOT NULL,
      PRIMARY KEY (workspace_id, word, contact_id)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS contact_tags (
      workspace_id BINARY(16) NOT NULL,
      tag_key VARBINARY(384) NOT NULL,
      contact_id BINARY(16) NOT NULL,
      PRIMARY KEY (workspace_id, tag_key, contact_id)
    ) ${tableOptions}`,

    // How many contacts have a tag, which is spelt as the first of them had it; under the empty key, how many there are
    // at all. The sum over the shards: who counts at the same time need not wait for each other.
    `CREATE TABLE IF NOT EXISTS contact_counts (
      workspace_id BINARY(16) NOT NULL,
      tag_key VARBINARY(384) NOT NULL,
      shard TINYINT UNSIGNED NOT NULL,
      tag VARCHAR(64) NOT NULL,
      contacts INT NOT NULL,
      PRIMARY KEY (workspace_id, tag_key, shard)
    ) ${tableOptions}`,

    // member_count: of a static list, kept with its members; of a dynamic one, what was counted last and is believed
    // until then. A workspace's built-in list has no row: it is its contacts.
    `CREATE TABLE IF NOT EXISTS contact_lists (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARCHAR(100) NOT NULL,
      description VARCHAR(500) NULL,
      kind VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      filter TEXT NULL,
      member_count INT UNSIGNED NOT NULL DEFAULT 0,
      counted_until DATETIME(3) NULL,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      KEY contact_lists_listed (workspace_id, id)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS contact_list_members (
      list_id BINARY(16) NOT NULL,
      contact_id BINARY(16) NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      PRIMARY KEY (list_id, contact_id),
      KEY contact_list_members_of_contact (contact_id)
    ) ${tableOptions}`,

    // Lists that are gone and whose members are not yet.
    `CREATE TABLE IF NOT EXISTS contact_list_removals (
      list_id BINARY(16) NOT NULL PRIMARY KEY
    ) ${tableOptions}`,

    // A copy into a list, taken up from its place after a crash. running_list_id is the list until the copy is over, and
    // null from then on: a list has one that runs.
    `CREATE TABLE IF NOT EXISTS contact_list_copies (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      list_id BINARY(16) NOT NULL,
      running_list_id BINARY(16) NULL,
      request MEDIUMTEXT NOT NULL,
      source_index INT UNSIGNED NOT NULL DEFAULT 0,
      after_contact_id BINARY(16) NULL,
      added INT UNSIGNED NOT NULL DEFAULT 0,
      skipped INT UNSIGNED NOT NULL DEFAULT 0,
      due_at DATETIME(3) NULL,
      lease_token BINARY(16) NULL,
      claims INT UNSIGNED NOT NULL DEFAULT 0,
      request_id VARBINARY(128) NULL,
      created_at DATETIME(3) NOT NULL,
      completed_at DATETIME(3) NULL,
      UNIQUE KEY contact_list_copies_running (running_list_id),
      KEY contact_list_copies_due (due_at),
      KEY contact_list_copies_completed (completed_at)
    ) ${tableOptions}`,

    // Exactly one of number and email is set. email_key is the address as mail servers compare it.
    `CREATE TABLE IF NOT EXISTS suppressions (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NULL,
      email VARCHAR(320) NULL,
      email_key VARBINARY(320) NULL,
      scope VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      source VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      reason VARCHAR(256) NULL,
      created_at DATETIME(3) NOT NULL,
      UNIQUE KEY suppressions_number (workspace_id, number),
      UNIQUE KEY suppressions_email (workspace_id, email_key, scope),
      KEY suppressions_listed (workspace_id, id),
      KEY suppressions_by_scope (workspace_id, scope, id),
      KEY suppressions_by_source (workspace_id, source, id)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS suppressions',
    'DROP TABLE IF EXISTS contact_list_copies',
    'DROP TABLE IF EXISTS contact_list_removals',
    'DROP TABLE IF EXISTS contact_list_members',
    'DROP TABLE IF EXISTS contact_lists',
    'DROP TABLE IF EXISTS contact_counts',
    'DROP TABLE IF EXISTS contact_tags',
    'DROP TABLE IF EXISTS contact_words',
    'DROP TABLE IF EXISTS contacts',
  ],
};
