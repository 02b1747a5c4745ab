import { type Migration, tableOptions } from './migration.ts';

export const events: Migration = {
  name: '0003_events',
  up: [
    // position is null until relay-events numbers the event; ids and times do not follow the order of commits.
    // data is text, not JSON: a JSON column would order its keys anew, and the bytes are what gets signed.
    `CREATE TABLE IF NOT EXISTS events (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      position BIGINT UNSIGNED NULL,
      type VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      record_id BINARY(16) NOT NULL,
      record_seq INT UNSIGNED NOT NULL,
      occurred_at DATETIME(3) NOT NULL,
      data MEDIUMTEXT NOT NULL,
      request_id VARBINARY(128) NULL,
      UNIQUE KEY events_position (position),
      UNIQUE KEY events_of_record (workspace_id, record_id, record_seq),
      KEY events_feed (workspace_id, position, type)
    ) ${tableOptions}`,

    // Which position the feed had reached at a time: turns "since" and the age of a cursor into positions.
    `CREATE TABLE IF NOT EXISTS event_marks (
      reached_at DATETIME(3) NOT NULL PRIMARY KEY,
      position BIGINT UNSIGNED NOT NULL
    ) ${tableOptions}`,
    "INSERT IGNORE INTO counters (name, value) VALUES ('events.position', 0), ('events.purged', 0)",
  ],
  down: [
    "DELETE FROM counters WHERE name IN ('events.position', 'events.purged')",
    'DROP TABLE IF EXISTS event_marks',
    'DROP TABLE IF EXISTS events',
  ],
};
