import type { Migration } from './migration.ts';

export const simulatorAnswerWindows: Migration = {
  name: '0045_simulator_answer_windows',
  up: [
    // Answers that phones owe to a workspace have so many jobs in Redis at most; the others are parked. A row that is
    // there is waiting. The version before makes the job of each row that it stores.
    `ALTER TABLE simulator_answers
      ADD COLUMN status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'waiting',
      ADD COLUMN parked TINYINT NOT NULL DEFAULT 0,
      ADD COLUMN lease_token BINARY(16) NULL,
      ADD COLUMN claims INT UNSIGNED NOT NULL DEFAULT 0,
      ADD COLUMN request_id VARBINARY(128) NULL,
      ADD KEY simulator_answers_admission (status, parked, workspace_id, due_at)`,
  ],
  down: [
    `ALTER TABLE simulator_answers DROP KEY simulator_answers_admission, DROP COLUMN request_id,
      DROP COLUMN claims, DROP COLUMN lease_token, DROP COLUMN parked, DROP COLUMN status`,
  ],
};
