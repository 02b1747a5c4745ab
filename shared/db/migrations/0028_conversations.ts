import { type Migration, tableOptions } from './migration.ts';

export const conversations: Migration = {
  name: '0028_conversations',
  up: [
    // All texts of an own sender with a number at the other end, once a text has come in. sender_key: what spellings of
    // the sender have in common. Until is_open it is nobody's: the first text is on its way in, and nothing is counted.
    // last_sms_id: the newest text; last_activity_at: when that was made, null until is_open.
    `CREATE TABLE IF NOT EXISTS conversations (
      id BINARY(16) NOT NULL PRIMARY KEY,
      workspace_id BINARY(16) NOT NULL,
      number VARBINARY(20) NOT NULL,
      sender VARBINARY(20) NOT NULL,
      sender_key VARBINARY(20) NOT NULL,
      is_open TINYINT NOT NULL DEFAULT 0,
      inbound_count INT NOT NULL DEFAULT 0,
      outbound_count INT NOT NULL DEFAULT 0,
      last_inbound_at DATETIME(3) NULL,
      last_outbound_at DATETIME(3) NULL,
      last_activity_at DATETIME(3) NULL,
      last_sms_id BINARY(16) NULL,
      created_at DATETIME(3) NOT NULL,
      UNIQUE KEY conversations_pair (workspace_id, number, sender_key),
      KEY conversations_listed (workspace_id, last_activity_at, id),
      KEY conversations_of_sender (workspace_id, sender_key, last_activity_at, id),
      KEY conversations_unopened (is_open, created_at)
    ) ${tableOptions}`,

    // Of the texts that have come in so far. The id of the first of them, which is unique, is the conversation's.
    `INSERT IGNORE INTO conversations (id, workspace_id, number, sender, sender_key, is_open, inbound_count,
       last_inbound_at, last_activity_at, last_sms_id, created_at)
     SELECT MIN(id), workspace_id, sender, MIN(recipient), LOWER(CONVERT(recipient USING utf8mb4)), 1, COUNT(*),
       MAX(created_at), MAX(created_at), MAX(id), MIN(created_at)
     FROM sms_messages WHERE direction = 'inbound'
     GROUP BY workspace_id, sender, LOWER(CONVERT(recipient USING utf8mb4))`,
    `UPDATE conversations c JOIN (
       SELECT pairs.id, COUNT(*) AS texts, MAX(m.created_at) AS last_at, MAX(m.id) AS last_id
       FROM conversations pairs JOIN sms_messages m FORCE INDEX (sms_by_recipient)
         ON m.workspace_id = pairs.workspace_id AND m.recipient = pairs.number AND m.direction = 'outbound'
           AND LOWER(CONVERT(m.sender USING utf8mb4)) = CONVERT(pairs.sender_key USING utf8mb4)
       WHERE pairs.is_open = 1 GROUP BY pairs.id) AS sent ON sent.id = c.id
     SET c.outbound_count = sent.texts, c.last_outbound_at = sent.last_at,
       c.last_activity_at = GREATEST(c.last_activity_at, sent.last_at),
       c.last_sms_id = GREATEST(c.last_sms_id, sent.last_id)`,
  ],
  down: ['DROP TABLE IF EXISTS conversations'],
};
