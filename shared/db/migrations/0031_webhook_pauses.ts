import type { Migration } from './migration.ts';

export const webhookPauses: Migration = {
  name: '0031_webhook_pauses',
  up: [
    // busy_count: how often in a row its endpoint has asked to wait. legacy_secret: signs what was first attempted before the
    // webhook became one of v2.
    `ALTER TABLE webhooks ADD COLUMN busy_count TINYINT UNSIGNED NOT NULL DEFAULT 0,
      ADD COLUMN legacy_secret VARBINARY(400) NULL, ADD COLUMN legacy_secret_until DATETIME(3) NULL`,
    // Whose webhooks go there, so that the hosts of one customer do not speak for all. A process of the version before names nobody.
    `ALTER TABLE webhook_hosts ADD COLUMN workspace_id BINARY(16) NOT NULL DEFAULT 0x00000000000000000000000000000000,
      DROP PRIMARY KEY, ADD PRIMARY KEY (host, workspace_id)`,
  ],
  down: [
    'DELETE FROM webhook_hosts',
    'ALTER TABLE webhook_hosts DROP PRIMARY KEY, ADD PRIMARY KEY (host), DROP COLUMN workspace_id',
    'ALTER TABLE webhooks DROP COLUMN busy_count, DROP COLUMN legacy_secret, DROP COLUMN legacy_secret_until',
  ],
};
