import type { Migration } from './migration.ts';

export const smsPutOff: Migration = {
  name: '0062_sms_put_off',
  up: [
    // Most texts are never held, and no gateway puts them off. Their times here are always null, so the two indexes cost
    // them nothing. sms_due changed at each step of each text, which was an eighth of the work of MySQL on a text.
    `ALTER TABLE sms_messages
      ADD COLUMN held_until DATETIME(3) AS (IF(status = 'held', due_at, NULL)) VIRTUAL,
      ADD COLUMN put_off_until DATETIME(3) AS (IF(status = 'queued' AND lease_token IS NULL
        AND handover_at IS NULL AND handover_gateway IS NOT NULL, due_at, NULL)) VIRTUAL`,
    // Until the processes of the version before are stopped, their sweeps fail where they name sms_due; those of this
    // version do the same work.
    'ALTER TABLE sms_messages ADD KEY sms_held (held_until), ADD KEY sms_put_off (put_off_until), DROP KEY sms_due',
  ],
  down: [
    'ALTER TABLE sms_messages ADD KEY sms_due (status, parked, due_at), DROP KEY sms_put_off, DROP KEY sms_held',
    'ALTER TABLE sms_messages DROP COLUMN put_off_until, DROP COLUMN held_until',
  ],
};
