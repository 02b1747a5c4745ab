import { type Migration, tableOptions } from './migration.ts';

export const stopReplies: Migration = {
  name: '0043_stop_replies',
  up: [
    // The answer to a text that says STOP, and the words that mean it or START beside the known ones, with blanks between.
    `ALTER TABLE workspaces ADD COLUMN stop_reply VARCHAR(1600) NULL, ADD COLUMN stop_words VARBINARY(1000) NULL,
      ADD COLUMN start_words VARBINARY(1000) NULL`,

    // The last answer to each number. The text that it names goes out although the number is suppressed.
    `CREATE TABLE IF NOT EXISTS sms_stop_replies (
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      sms_id BINARY(16) NOT NULL,
      replied_at DATETIME(3) NOT NULL,
      PRIMARY KEY (workspace_id, number),
      KEY sms_stop_replies_replied (replied_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS sms_stop_replies',
    'ALTER TABLE workspaces DROP COLUMN stop_reply, DROP COLUMN stop_words, DROP COLUMN start_words',
  ],
};
