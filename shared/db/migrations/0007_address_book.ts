import { type Migration, tableOptions } from './migration.ts';

export const addressBook: Migration = {
  name: '0007_address_book',
  up: [
    // tags: a sorted JSON array. national: the digits as they are dialled at home; reversed: those of the E.164
    // number from its end, so that "its last digits" is a prefix too. The keys are what search compares: folded.
    `CREATE TABLE IF NOT EXISTS contacts (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      national VARBINARY(20) NOT NULL,
      reversed VARBINARY(20) NOT NULL,
      country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NULL,
      first_name VARCHAR(80) NULL,
      last_name VARCHAR(80) NULL,
      company VARCHAR(120) NULL,
      email VARCHAR(256) NULL,
      email_key VARBINARY(64) NULL,
      client_reference VARCHAR(128) NULL,
      client_reference_key VARBINARY(64) NULL,
      tags TEXT NOT NULL,
      created_at DATETIME(3) NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      UNIQUE KEY contacts_number (workspace_id, number),
      KEY contacts_listed (workspace_id, id),
      KEY contacts_national (workspace_id, national),
      KEY contacts_reversed (workspace_id, reversed),
      KEY contacts_email (workspace_id, email_key, id),
      KEY contacts_client_reference (workspace_id, client_reference_key, id)
    ) ${tableOptions}`,

    // The words of a contact's names, folded: one row for each that search may find it by.
    `CREATE TABLE IF NOT EXISTS contact_words (
      workspace_id BINARY(16) NOT NULL,
      word VARBINARY(48) NOT NULL,
      contact_id BINARY(16) NOT NULL,
      PRIMARY KEY (workspace_id, word, contact_id),
      KEY contact_words_of_contact (contact_id)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS contact_tags (
      workspace_id BINARY(16) NOT NULL,
      tag_key VARBINARY(256) NOT NULL,
      contact_id BINARY(16) NOT NULL,
      tag VARCHAR(64) NOT NULL,
      PRIMARY KEY (workspace_id, tag_key, contact_id),
      KEY contact_tags_of_contact (contact_id)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS contact_lists (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARCHAR(100) NOT NULL,
      description VARCHAR(500) NULL,
      kind VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      filter TEXT NULL,
      member_count INT UNSIGNED NOT NULL DEFAULT 0,
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

    // A copy into a list: one at a time for each (the primary key), resumed from its place after a crash.
    `CREATE TABLE IF NOT EXISTS contact_list_copies (
      list_id BINARY(16) NOT NULL PRIMARY KEY,
      id BINARY(16) NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      request TEXT NOT NULL,
      source_index INT UNSIGNED NOT NULL DEFAULT 0,
      after_contact_id BINARY(16) NULL,
      added INT UNSIGNED NOT NULL DEFAULT 0,
      skipped INT UNSIGNED NOT NULL DEFAULT 0,
      status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      due_at DATETIME(3) NULL,
      lease_token BINARY(16) NULL,
      claims INT UNSIGNED NOT NULL DEFAULT 0,
      created_at DATETIME(3) NOT NULL,
      completed_at DATETIME(3) NULL,
      request_id VARBINARY(128) NULL,
      KEY contact_list_copies_due (status, due_at)
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
    'DROP TABLE IF EXISTS contact_list_members',
    'DROP TABLE IF EXISTS contact_lists',
    'DROP TABLE IF EXISTS contact_tags',
    'DROP TABLE IF EXISTS contact_words',
    'DROP TABLE IF EXISTS contacts',
  ],
};
