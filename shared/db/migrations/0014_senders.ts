import { type Migration, tableOptions } from './migration.ts';

export const senders: Migration = {
  name: '0014_senders',
  up: [
    // name and name_key (the name without its case) are null for a virtual number that is not assigned; virtual_number
    // is its number, which no two workspaces share. code_…: what a mobile number is verified with.
    `CREATE TABLE IF NOT EXISTS senders (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      name VARBINARY(16) NULL,
      name_key VARBINARY(16) NULL,
      virtual_number VARBINARY(16) NULL,
      status VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      is_default TINYINT NOT NULL DEFAULT 0,
      sample_content VARCHAR(256) NULL,
      business_profile_id BINARY(16) NULL,
      code_tag BINARY(16) NULL,
      code_expires_at DATETIME(3) NULL,
      code_tries TINYINT UNSIGNED NOT NULL DEFAULT 0,
      created_at DATETIME(3) NOT NULL,
      UNIQUE KEY senders_name (workspace_id, name_key),
      UNIQUE KEY senders_virtual_number (virtual_number),
      KEY senders_listed (workspace_id, id),
      KEY senders_by_status (workspace_id, status),
      KEY senders_default (workspace_id, is_default),
      KEY senders_of_profile (business_profile_id)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS sender_countries (
      sender_id BINARY(16) NOT NULL,
      country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      workspace_id BINARY(16) NOT NULL,
      status VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      reason VARCHAR(256) NULL,
      PRIMARY KEY (sender_id, country),
      KEY sender_countries_reviewed (status, sender_id)
    ) ${tableOptions}`,

    // The rejections of senders that are gone: asking again does not wash it off.
    `CREATE TABLE IF NOT EXISTS sender_rejections (
      workspace_id BINARY(16) NOT NULL,
      name_key VARBINARY(16) NOT NULL,
      country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      reason VARCHAR(256) NULL,
      PRIMARY KEY (workspace_id, name_key, country)
    ) ${tableOptions}`,

    `CREATE TABLE IF NOT EXISTS business_profiles (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      name VARCHAR(128) NOT NULL,
      status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      created_at DATETIME(3) NOT NULL,
      KEY business_profiles_listed (workspace_id, id)
    ) ${tableOptions}`,

    // When codes went to a number, or for a workspace, within the last day: sent_times is JSON, oldest first. One row
    // for each, so that it can be locked before there is anything to count.
    `CREATE TABLE IF NOT EXISTS sender_code_counts (
      subject VARBINARY(32) NOT NULL PRIMARY KEY,
      sent_times TEXT NOT NULL,
      updated_at DATETIME(3) NOT NULL,
      KEY sender_code_counts_updated (updated_at)
    ) ${tableOptions}`,

    // The texts of the simulator's phones. direction is the workspace's: outbound texts arrive at the phone.
    `CREATE TABLE IF NOT EXISTS simulator_messages (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(16) NOT NULL,
      direction VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      sender VARBINARY(16) NOT NULL,
      content TEXT NOT NULL,
      parts SMALLINT UNSIGNED NOT NULL,
      created_at DATETIME(3) NOT NULL,
      KEY simulator_messages_of_phone (workspace_id, number, id)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS simulator_messages',
    'DROP TABLE IF EXISTS sender_code_counts',
    'DROP TABLE IF EXISTS business_profiles',
    'DROP TABLE IF EXISTS sender_rejections',
    'DROP TABLE IF EXISTS sender_countries',
    'DROP TABLE IF EXISTS senders',
  ],
};
