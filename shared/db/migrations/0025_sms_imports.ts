import { type Migration, tableOptions } from './migration.ts';

export const smsImports: Migration = {
  name: '0025_sms_imports',
  up: [
    // Files whose rows are being stored, under a batch that is not there yet.
    // touched_at: the time of the last rows; an import that is not touched any more was left by a process that died
    `CREATE TABLE IF NOT EXISTS sms_imports (
      batch_id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      touched_at DATETIME(3) NOT NULL,
      is_left TINYINT NOT NULL DEFAULT 0,
      KEY sms_imports_of_workspace (workspace_id),
      KEY sms_imports_touched (touched_at)
    ) ${tableOptions}`,
  ],
  down: ['DROP TABLE IF EXISTS sms_imports'],
};
