import type { Migration } from './migration.ts';

export const keyRotations: Migration = {
  name: '0052_key_rotations',
  up: [
    // expires_at of a key that was rotated is the end of the overlap; own_expires_at is the expiry that the key was given, and
    // its next rotation too, where the first one is gone. A rotation by the version before leaves both empty.
    `ALTER TABLE api_keys
      ADD COLUMN rotated_at DATETIME(3) NULL,
      ADD COLUMN own_expires_at DATETIME(3) NULL`,
  ],
  down: ['ALTER TABLE api_keys DROP COLUMN own_expires_at, DROP COLUMN rotated_at'],
};
