import { inspect } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import {
  execute,
  knexTable,
  query,
  queryEach,
  run,
  statement,
  transaction,
} from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';
import { makeTable } from '../../support/database/own-table.ts';

useDatabase();
beforeAll(async () => {
  await makeTable('things', 'id INT PRIMARY KEY, value VARCHAR(5) NOT NULL');
});

const secret = 'confidential words of a customer';
const ways: Record<string, () => Promise<unknown>> = {
  query: () => query('INSERT INTO things VALUES (?, ?)', [1, secret]),
  execute: () => execute('INSERT INTO things VALUES (?, ?)', [1, secret]),
  queryEach: () => queryEach([statement('INSERT INTO things VALUES (?, ?)', [1, secret])]),
  'a Knex query': () => run(knexTable('things').insert({ id: 1, value: secret })),
};

test.each(Object.keys(ways))(
  'an error of %s does not carry the values of the statement into a log',
  async (way) => {
    for (const work of [ways[way]!, () => transaction(ways[way]!)]) {
      const error = await work().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ errno: 1406 });
      expect(inspect(error, { depth: 8, showHidden: true })).not.toContain(secret);
      expect(JSON.stringify({ ...(error as Error) })).not.toContain(secret);
    }
  },
);
