import { afterEach, beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { closeDatabase, execute, query, transaction } from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';
import { makeTable } from '../../support/database/own-table.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type OwnMysql, ordinaryUser, startOwnMysql } from '../../support/servers/own-servers.ts';

let mysql: OwnMysql;
let own: URL;
beforeAll(async () => {
  mysql = await startOwnMysql();
  own = new URL(mysql.url);
  changeSettings({ MYSQL_URL: own.href });
});
useDatabase();
beforeAll(() =>
  makeTable(
    'things',
    'id INT PRIMARY KEY, text VARCHAR(40) COLLATE utf8mb4_bin, bytes VARBINARY(40), at DATETIME(3), flag TINYINT',
  ),
);
afterEach(() => connectTo(own.href));

/** From now on connections are opened with this URL. */
function connectTo(url: string): Promise<void> {
  Object.assign(config, { MYSQL_URL: url });
  return closeDatabase();
}

const unavailable = { code: 'service_unavailable', options: { retryAfterSeconds: expect.any(Number) } };

const changed = (changes: Partial<URL>) => Object.assign(new URL(own), changes).href;
const refusals: Record<string, { number: number; url: () => Promise<string> }> = {
  'its password was changed': { number: 1045, url: async () => changed({ password: 'another' }) },
  'there is no such database': { number: 1049, url: async () => changed({ pathname: '/another' }) },
  'its user may not use the database': {
    number: 1044,
    url: async () => {
      const { username, password } = new URL(await ordinaryUser(mysql));
      await mysql.query(`REVOKE ALL PRIVILEGES, GRANT OPTION FROM '${username}'@'127.0.0.1'`);
      return changed({ username, password });
    },
  },
  'its user has as many connections as it may': {
    number: 1226,
    url: async () => {
      const { username, password } = new URL(await ordinaryUser(mysql));
      await mysql.query(`ALTER USER '${username}'@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1`);
      return changed({ username, password });
    },
  },
};

// Shows F23
test.each(Object.keys(refusals))(
  'a connection that the server refuses, because %s, is an outage and no fault of the work',
  async (why) => {
    const { number, url } = refusals[why]!;
    await connectTo(await url());
    const ends = await Promise.allSettled(
      Array.from({ length: 8 }, () => transaction(() => query('SELECT SLEEP(0.05)'))),
    );
    const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) expect(error).toMatchObject({ ...unavailable, cause: { errno: number } });
  },
);

// Shows F23
test('an account that may run no more statements in this hour is an outage', async () => {
  const { username, password } = new URL(await ordinaryUser(mysql));
  await mysql.query(`ALTER USER '${username}'@'127.0.0.1' WITH MAX_QUERIES_PER_HOUR 20`);
  await connectTo(changed({ username, password }));
  const all = async () => {
    for (let count = 0; count < 20; count += 1) await query('SELECT 1');
  };
  await expect(all()).rejects.toMatchObject({ ...unavailable, cause: { errno: 1226 } });
});

// Shows F23
test('a server that keeps no more prepared statements runs them as text', async () => {
  const row = { text: `'"\\ %_?\n😀`, bytes: Buffer.from([0, 39, 92, 255]), at: new Date(1_234_567_890_123) };
  const write = (id: number) =>
    execute('INSERT INTO things (id, text, bytes, at, flag) VALUES (?, ?, ?, ?, ?)', [
      id,
      row.text,
      row.bytes,
      row.at,
      null,
    ]);
  const read = () =>
    execute('SELECT * FROM things WHERE text = ? AND at = ? ORDER BY id', [row.text, row.at]);
  await write(1);
  await mysql.query('SET GLOBAL max_prepared_stmt_count = 0');
  try {
    await closeDatabase();
    await transaction(async () => {
      await write(2);
      await write(3);
    });
    expect(await read()).toEqual([1, 2, 3].map((id) => ({ id, ...row, flag: null })));
  } finally {
    await mysql.query('SET GLOBAL max_prepared_stmt_count = DEFAULT');
  }
  expect(await read()).toHaveLength(3);
});
