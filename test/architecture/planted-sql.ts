import type { Guarded } from './planted.ts';
import { oneMapForEachTable, sqlOfBoth } from './sql.ts';

export const plantedSql: Guarded[] = [
  {
    guarantee: 'no statement that only one of MySQL and MariaDB takes',
    rule: sqlOfBoth,
    breaches: [
      { 'shared/db/emails.ts': "query(`UPDATE JSON_TABLE(?, '$[*]') …`)" },
      { 'shared/db/system/events.ts': 'query(`SELECT id FROM emails\n LOCK IN SHARE MODE`)' },
      { 'shared/db/senders.ts': 'query(`SELECT id FROM senders FOR SHARE`)' },
      { 'shared/db/system/emails.ts': 'query(`SELECT MD5(id) FROM emails`)' },
      { 'shared/db/nonces.ts': "query('SELECT id FROM nonces FOR SHARE')" },
      { 'shared/db/keys.ts': 'query("SELECT SHA(id) FROM api_keys")' },
      { 'shared/db/texts.ts': "query(`SELECT ${`a, ${b}`} FROM JSON_TABLE(?, '$[*]') …`)" },
    ],
    harmless: { 'shared/db/emails.ts': 'query(`SELECT id FROM emails FOR UPDATE`)' },
  },
  {
    guarantee: 'a table has one map of its columns, and rows are inserted by it',
    rule: oneMapForEachTable,
    breaches: [
      {
        'shared/db/webhooks/claim.system.ts': "const claimed = table('webhooks', { id: id('webhook') });",
        'shared/db/webhooks/webhooks.ts': "export const webhooks = table('webhooks', {\n  url: text(),\n});",
      },
      {
        'shared/db/email/templates.ts': "templateTable({\n  table: 'email_templates',\n})",
        'shared/db/email/sources.ts': "const sources = table('email_templates', { html: text() });",
      },
      {
        'shared/db/events/events.system.ts': 'query(`INSERT INTO events (id, type) VALUES ?`, [rows])',
        'shared/db/events/events.ts': "export const events = table('events', { id: id('event') });",
      },
      {
        'shared/db/phones.ts':
          "const phones = table('phones', { id: id('phone') });\nquery('INSERT IGNORE INTO phones (id) VALUES (?)');",
      },
    ],
    harmless: {
      'shared/db/events/events.ts':
        "const events = table('events', { id: id('event') });\nconst some = events.pick('id');\nquery(`INSERT INTO ${some.into} VALUES ?`);",
      'shared/db/events/marks.ts': "query('INSERT INTO event_marks (position) VALUES (?)');",
      'test/db/events.test.ts': "query('INSERT INTO events (id) VALUES (?)');",
    },
  },
];
