import type { Migration } from './migration.ts';

export const replacedApiKeys: Migration = {
  name: '0059_replaced_api_keys',
  up: [
    // The purge asks every few minutes for keys that were rotated long ago; most keys never are.
    'ALTER TABLE api_keys ADD KEY api_keys_rotated (rotated_at, expires_at)',
  ],
  down: ['ALTER TABLE api_keys DROP KEY api_keys_rotated'],
};
