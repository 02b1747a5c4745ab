import { type Migration, tableOptions } from './migration.ts';

export const waitingCounts: Migration = {
  name: '0020_waiting_counts',
  up: [
    // The waiting work of a workspace, to be added up over its shards: transactions of one workspace that commit at
    // once add to different ones. Shard 0 also says when it was last counted against the rows themselves, and how
    // often.
    `CREATE TABLE IF NOT EXISTS waiting_counts (
      workspace_id BINARY(16) NOT NULL,
      shard TINYINT UNSIGNED NOT NULL,
      messages BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      recounts INT UNSIGNED NOT NULL DEFAULT 0,
      recounted_at DATETIME(3) NULL,
      PRIMARY KEY (workspace_id, shard)
    ) ${tableOptions}`,

    // The bytes of the body and the attachments, as long as there are any.
    'ALTER TABLE emails ADD COLUMN stored_bytes INT UNSIGNED NOT NULL DEFAULT 0',
    // So that what is queued is added up from the index alone. In one statement: listings name the index.
    `ALTER TABLE emails DROP KEY emails_by_status,
      ADD KEY emails_by_status (workspace_id, status, id, stored_bytes)`,
  ],
  down: [
    `ALTER TABLE emails DROP KEY emails_by_status, ADD KEY emails_by_status (workspace_id, status, id)`,
    'ALTER TABLE emails DROP COLUMN stored_bytes',
    'DROP TABLE IF EXISTS waiting_counts',
  ],
};
