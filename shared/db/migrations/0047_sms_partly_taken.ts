import type { Migration } from './migration.ts';

export const smsPartlyTaken: Migration = {
  name: '0047_sms_partly_taken',
  up: [
    // A gateway has parts of the text: nothing of what it costs is given back from then on.
    'ALTER TABLE sms_messages ADD COLUMN is_partly_taken TINYINT NOT NULL DEFAULT 0',
    // A text that waits and names a gateway has parts there, or may be there as a whole, which its count says.
    `UPDATE sms_messages FORCE INDEX (sms_by_status) SET is_partly_taken = 1
     WHERE status = 'queued' AND parts > 1 AND gateway IS NOT NULL AND uncertain_count = 0`,
  ],
  down: ['ALTER TABLE sms_messages DROP COLUMN is_partly_taken'],
};
