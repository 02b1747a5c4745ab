import type { Guarded } from './planted.ts';
import { sqlOfBoth } from './sql.ts';

export const plantedSql: Guarded[] = [
  {
    guarantee: 'no statement that only one of MySQL and MariaDB takes',
    rule: sqlOfBoth,
    breaches: [
      { 'shared/db/emails.ts': "query(`SELECT id FROM JSON_TABLE(?, '$[*]')\n JOIN emails FOR UPDATE`)" },
      { 'shared/db/system/emails.ts': 'query(`SELECT MD5(id) FROM emails`)' },
    ],
    harmless: {
      'shared/db/emails.ts':
        "query(`UPDATE JSON_TABLE(?, '$[*]') …`);\nquery(`SELECT id FROM emails FOR UPDATE`)",
    },
  },
];
