import { type Migration, tableOptions } from './migration.ts';

export const workspaces: Migration = {
  name: '0001_workspaces',
  up: [
    `CREATE TABLE IF NOT EXISTS workspaces (
      id BINARY(16) NOT NULL PRIMARY KEY,
      name VARCHAR(200) NOT NULL,
      country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      alert_email VARBINARY(320) NULL,
      webhooks_enabled TINYINT NOT NULL,
      sending_blocked TINYINT NOT NULL,
      created_at DATETIME(3) NOT NULL
    ) ${tableOptions}`,

    // A lineage is a key with its rotations; limits and idempotency belong to it.
    `CREATE TABLE IF NOT EXISTS api_keys (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      lineage_id BINARY(16) NOT NULL,
      kind VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      hash BINARY(32) NOT NULL,
      name VARCHAR(64) NULL,
      key_prefix VARBINARY(8) NOT NULL,
      key_last4 VARBINARY(4) NOT NULL,
      scopes TEXT NOT NULL,
      api_version VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NULL,
      created_at DATETIME(3) NOT NULL,
      active_from DATETIME(3) NOT NULL,
      expires_at DATETIME(3) NULL,
      UNIQUE KEY api_keys_hash (hash),
      KEY api_keys_workspace (workspace_id, id)
    ) ${tableOptions}`,

    // Counter rows that several processes share: the position of the newest event, how far events are purged.
    `CREATE TABLE IF NOT EXISTS counters (
      name VARBINARY(40) NOT NULL PRIMARY KEY,
      value BIGINT UNSIGNED NOT NULL
    ) ${tableOptions}`,

    // Tests shift every process' clock at once here; nothing reads it unless CLOCK_SHIFTABLE is set.
    `CREATE TABLE IF NOT EXISTS clock (
      id TINYINT NOT NULL PRIMARY KEY,
      shift_ms BIGINT NOT NULL
    ) ${tableOptions}`,
    'INSERT IGNORE INTO clock (id, shift_ms) VALUES (1, 0)',
  ],
  down: [
    'DROP TABLE IF EXISTS clock',
    'DROP TABLE IF EXISTS counters',
    'DROP TABLE IF EXISTS api_keys',
    'DROP TABLE IF EXISTS workspaces',
  ],
};
