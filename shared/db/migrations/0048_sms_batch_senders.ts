import type { Migration } from './migration.ts';

export const smsBatchSenders: Migration = {
  name: '0048_sms_batch_senders',
  up: [
    // The keys of the senders that rows of a batch name, so that the rows need not be read for them. Null: the batch is
    // from the version before, and its rows tell.
    'ALTER TABLE sms_batches ADD COLUMN senders TEXT NULL',
  ],
  down: ['ALTER TABLE sms_batches DROP COLUMN senders'],
};
