import type { Guarded } from './planted.ts';
import { sqlOfBoth } from './sql.ts';

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
];
