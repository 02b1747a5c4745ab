import { type Migration, tableOptions } from './migration.ts';

export const callers: Migration = {
  name: '0005_callers',
  up: [
    // One statement, so that all of it is there or none: the secrets are sealed with the key's id.
    `ALTER TABLE api_keys
      ADD COLUMN strict_mode TINYINT NOT NULL DEFAULT 0,
      ADD COLUMN signing_algorithm VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
      ADD COLUMN public_key TEXT CHARACTER SET ascii COLLATE ascii_bin NULL,
      ADD COLUMN signing_secret VARBINARY(400) NULL,
      ADD COLUMN previous_signing_secret VARBINARY(400) NULL,
      ADD COLUMN previous_signing_secret_until DATETIME(3) NULL,
      ADD COLUMN daily_parts INT UNSIGNED NULL,
      ADD COLUMN monthly_parts INT UNSIGNED NULL`,

    // SMS parts that a key with its rotations has used. A count of another day or month than today's is 0.
    `CREATE TABLE IF NOT EXISTS key_usage (
      lineage_id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      day DATE NOT NULL,
      used_in_day INT UNSIGNED NOT NULL,
      month DATE NOT NULL,
      used_in_month INT UNSIGNED NOT NULL,
      KEY key_usage_workspace (workspace_id)
    ) ${tableOptions}`,
    `INSERT IGNORE INTO key_usage (lineage_id, workspace_id, day, used_in_day, month, used_in_month)
      SELECT DISTINCT lineage_id, workspace_id, '2026-01-01', 0, '2026-01-01', 0 FROM api_keys`,

    // The INSERT is the lock: it commits with the effect of the request, or goes with it. answer is sealed.
    `CREATE TABLE IF NOT EXISTS idempotency_records (
      workspace_id BINARY(16) NOT NULL,
      lineage_id BINARY(16) NOT NULL,
      idempotency_key VARBINARY(255) NOT NULL,
      fingerprint BINARY(32) NOT NULL,
      answer MEDIUMBLOB NULL,
      expires_at DATETIME(3) NOT NULL,
      PRIMARY KEY (workspace_id, lineage_id, idempotency_key),
      KEY idempotency_records_expired (expires_at)
    ) ${tableOptions}`,

    // Nonces of request signatures that are still inside their window, hashed.
    `CREATE TABLE IF NOT EXISTS request_nonces (
      key_id BINARY(16) NOT NULL,
      nonce_hash BINARY(32) NOT NULL,
      expires_at DATETIME(3) NOT NULL,
      PRIMARY KEY (key_id, nonce_hash),
      KEY request_nonces_expired (expires_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS request_nonces',
    'DROP TABLE IF EXISTS idempotency_records',
    'DROP TABLE IF EXISTS key_usage',
    `ALTER TABLE api_keys
      DROP COLUMN strict_mode, DROP COLUMN signing_algorithm, DROP COLUMN public_key, DROP COLUMN signing_secret,
      DROP COLUMN previous_signing_secret, DROP COLUMN previous_signing_secret_until, DROP COLUMN daily_parts,
      DROP COLUMN monthly_parts`,
  ],
};
