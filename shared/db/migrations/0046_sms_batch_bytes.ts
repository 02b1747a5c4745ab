import type { Migration } from './migration.ts';

export const smsBatchBytes: Migration = {
  name: '0046_sms_batch_bytes',
  up: [
    // The bytes of the rows of a batch or of an import, by which the workspace's limit counts them as long as that is in
    // progress. Rows that are there already, or come from the version before, count as nothing.
    'ALTER TABLE sms_batches ADD COLUMN stored_bytes BIGINT UNSIGNED NOT NULL DEFAULT 0',
    'ALTER TABLE sms_imports ADD COLUMN stored_bytes BIGINT UNSIGNED NOT NULL DEFAULT 0',
  ],
  down: [
    'ALTER TABLE sms_imports DROP COLUMN stored_bytes',
    'ALTER TABLE sms_batches DROP COLUMN stored_bytes',
  ],
};
