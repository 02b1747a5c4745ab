import type { Migration } from './migration.ts';

/** Carriers make up error codes, so those of a day that have rows of their own are remembered, as tags and domains are. */
export const reportErrorCodes: Migration = {
  name: '0055_report_error_codes',
  up: ["ALTER TABLE report_names MODIFY dimension ENUM('tag', 'recipient_domain', 'error_code') NOT NULL"],
  down: [
    "DELETE FROM report_names WHERE dimension = 'error_code'",
    "ALTER TABLE report_names MODIFY dimension ENUM('tag', 'recipient_domain') NOT NULL",
  ],
};
