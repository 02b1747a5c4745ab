/** Tables of a program that does nothing else: columns for a request and its result, and an index for each reader. */
export const tables: Record<string, string> = {
  bare_emails: `(
    id BINARY(16) NOT NULL PRIMARY KEY, workspace_id BINARY(16) NOT NULL, status VARCHAR(10) NOT NULL,
    sender VARCHAR(256) NOT NULL, recipient VARCHAR(256) NOT NULL, subject VARCHAR(1000) NOT NULL,
    created_at DATETIME(3) NOT NULL, due_at DATETIME(3) NULL,
    KEY bare_emails_listed (workspace_id, id), KEY bare_emails_due (status, due_at))`,
  bare_email_bodies: '(email_id BINARY(16) NOT NULL PRIMARY KEY, html MEDIUMTEXT NULL, text MEDIUMTEXT NULL)',
  bare_events: `(
    id BINARY(16) NOT NULL PRIMARY KEY, workspace_id BINARY(16) NOT NULL, type VARCHAR(40) NOT NULL,
    record_id BINARY(16) NOT NULL, occurred_at DATETIME(3) NOT NULL, data MEDIUMTEXT NOT NULL,
    KEY bare_events_feed (workspace_id, id))`,
  bare_handovers: `(
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, email_id INT UNSIGNED NOT NULL,
    reply VARCHAR(1000) NOT NULL, sent_at DATETIME(3) NOT NULL)`,
  bare_texts: `(
    id INT UNSIGNED NOT NULL PRIMARY KEY, status VARCHAR(10) NOT NULL, reference VARCHAR(64) NULL,
    sent_at DATETIME(3) NULL)`,
  bare_phones: '(recipient VARCHAR(20) NOT NULL PRIMARY KEY, created_at DATETIME(3) NOT NULL)',
  bare_answers: `(
    text_id INT UNSIGNED NOT NULL PRIMARY KEY, due_at DATETIME(3) NOT NULL, KEY bare_answers_due (due_at))`,
  bare_phone_texts: `(
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, text_id INT UNSIGNED NOT NULL,
    recipient VARCHAR(20) NOT NULL, content TEXT NOT NULL, created_at DATETIME(3) NOT NULL,
    KEY bare_phone_texts_of (recipient, id))`,
  bare_batches: `(
    id BINARY(16) NOT NULL PRIMARY KEY, row_count INT UNSIGNED NOT NULL, next_position INT UNSIGNED NOT NULL,
    queued BIGINT NOT NULL, parts BIGINT NOT NULL)`,
  bare_batch_rows: `(
    batch_id BINARY(16) NOT NULL, position INT UNSIGNED NOT NULL, number VARCHAR(20) NOT NULL, country CHAR(2) NULL,
    data MEDIUMTEXT NULL, PRIMARY KEY (batch_id, position))`,
  bare_batch_messages: `(
    id BINARY(16) NOT NULL PRIMARY KEY, workspace_id BINARY(16) NOT NULL, batch_id BINARY(16) NOT NULL,
    status VARCHAR(10) NOT NULL, sender VARCHAR(20) NOT NULL, recipient VARCHAR(20) NOT NULL, content TEXT NOT NULL,
    country CHAR(2) NULL, parts SMALLINT UNSIGNED NOT NULL, created_at DATETIME(3) NOT NULL,
    updated_at DATETIME(3) NOT NULL, due_at DATETIME(3) NULL,
    KEY bare_batch_messages_listed (workspace_id, id), KEY bare_batch_messages_due (status, due_at),
    KEY bare_batch_messages_of (batch_id, id))`,
  bare_deliveries: `(
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, delivery_id VARBINARY(40) NOT NULL,
    response_status SMALLINT UNSIGNED NOT NULL, response_body VARCHAR(1024) NULL, duration_ms INT UNSIGNED NOT NULL,
    attempted_at DATETIME(3) NOT NULL)`,
  bare_feed: `(
    id BIGINT UNSIGNED NOT NULL PRIMARY KEY, type VARCHAR(40) NOT NULL, occurred_at DATETIME(3) NOT NULL,
    data MEDIUMTEXT NOT NULL)`,
  bare_contacts: `(
    id BINARY(16) NOT NULL PRIMARY KEY, workspace_id BINARY(16) NOT NULL, number VARCHAR(20) NOT NULL,
    country CHAR(2) NULL, first_name VARCHAR(80) NULL, last_name VARCHAR(80) NULL, company VARCHAR(120) NULL,
    email VARCHAR(256) NULL, client_reference VARCHAR(128) NULL,
    created_at DATETIME(3) NOT NULL, updated_at DATETIME(3) NOT NULL,
    UNIQUE KEY bare_contacts_number (workspace_id, number), KEY bare_contacts_listed (workspace_id, id))`,
  bare_counts: `(
    name VARCHAR(100) NOT NULL PRIMARY KEY, accepted INT NOT NULL, queued INT NOT NULL, sent INT NOT NULL)`,
  bare_states: '(id BINARY(16) NOT NULL PRIMARY KEY, counted VARCHAR(20) NOT NULL)',
  bare_counted: '(id INT NOT NULL PRIMARY KEY, position BIGINT UNSIGNED NOT NULL)',
  bare_numbered: `(
    id BIGINT UNSIGNED NOT NULL PRIMARY KEY, position BIGINT UNSIGNED NULL, data MEDIUMTEXT NOT NULL,
    UNIQUE KEY bare_numbered_position (position))`,
  bare_fanned_out: `(
    id BINARY(16) NOT NULL PRIMARY KEY, webhook_id BINARY(16) NOT NULL, event_id BIGINT UNSIGNED NOT NULL,
    status VARCHAR(10) NOT NULL, due_at DATETIME(3) NULL, created_at DATETIME(3) NOT NULL,
    KEY bare_fanned_out_due (status, due_at))`,
};

export const createTables = Object.entries(tables).map(
  ([name, columns]) =>
    `CREATE TABLE ${name} ${columns} ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
);
