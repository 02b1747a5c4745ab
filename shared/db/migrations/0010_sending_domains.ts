import { type Migration, tableOptions } from './migration.ts';

export const sendingDomains: Migration = {
  name: '0010_sending_domains',
  up: [
    // checks: the result for each DNS record, as JSON
    // check_due_at: the time of the next check; during a check, the time from which another process may repeat it. Null
    // if the operator vouches for the domain, as for each domain that is older than this column.
    `ALTER TABLE email_domains
      ADD COLUMN checks TEXT NULL,
      ADD COLUMN warning_since DATETIME(3) NULL,
      ADD COLUMN check_due_at DATETIME(3) NULL,
      ADD KEY email_domains_listed (workspace_id, id),
      ADD KEY email_domains_due (check_due_at)`,

    // email_key: the address as mail servers compare it.
    `CREATE TABLE IF NOT EXISTS email_test_recipients (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      email VARCHAR(256) NOT NULL,
      email_key VARBINARY(256) NOT NULL,
      created_at DATETIME(3) NOT NULL,
      verified_at DATETIME(3) NULL,
      UNIQUE KEY email_test_recipients_email (workspace_id, email_key),
      KEY email_test_recipients_listed (workspace_id, id)
    ) ${tableOptions}`,

    // The confirmation links of the last day, so that nobody can be flooded with them by adding and removing.
    `CREATE TABLE IF NOT EXISTS email_test_links (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      email_key VARBINARY(256) NOT NULL,
      sent_at DATETIME(3) NOT NULL,
      KEY email_test_links_of_address (email_key, sent_at),
      KEY email_test_links_of_workspace (workspace_id, sent_at),
      KEY email_test_links_sent (sent_at)
    ) ${tableOptions}`,
  ],
  down: [
    'DROP TABLE IF EXISTS email_test_links',
    'DROP TABLE IF EXISTS email_test_recipients',
    `ALTER TABLE email_domains
      DROP KEY email_domains_due,
      DROP KEY email_domains_listed,
      DROP COLUMN check_due_at,
      DROP COLUMN warning_since,
      DROP COLUMN checks`,
  ],
};
