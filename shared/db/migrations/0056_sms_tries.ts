import type { Migration } from './migration.ts';

export const smsTries: Migration = {
  name: '0056_sms_tries',
  up: [
    // tried_at: the first hand-over, from which the time for retries runs. Null: not tried, or only by the version before.
    'ALTER TABLE sms_messages ADD COLUMN tried_at DATETIME(3) NULL',
    // The gateway of the hand-over that began at handover_at. A column of its own, because the version before takes a
    // text with a gateway for one that cannot be stopped any more.
    'ALTER TABLE sms_messages ADD COLUMN handover_gateway VARBINARY(20) NULL',
  ],
  down: [
    'ALTER TABLE sms_messages DROP COLUMN tried_at',
    'ALTER TABLE sms_messages DROP COLUMN handover_gateway',
  ],
};
