import mysql from 'mysql2/promise';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { afterCommit, query, transaction } from '../../../shared/db/client.ts';
import { useDatabase } from '../../support/database/database.ts';
import { makeTable } from '../../support/database/own-table.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let line: TcpProxy;
let direct: string;
beforeAll(async () => {
  direct = config.MYSQL_URL;
  line = await startTcpProxy(direct, 3306);
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

beforeAll(async () => {
  await makeTable('things', 'id INT PRIMARY KEY');
});
// The cleanup at the end of the file needs the line.
afterEach(async () => {
  await line.pass();
  await waitFor('the database answers', () => query('SELECT 1'));
});

/** Returns whether the server has the row; the question does not go through the line. */
async function stored(id: number): Promise<boolean> {
  const server = await mysql.createConnection({ uri: direct });
  try {
    const [rows] = await server.query<mysql.RowDataPacket[]>('SELECT id FROM things WHERE id = ?', [id]);
    return rows.length === 1;
  } finally {
    await server.end();
  }
}

const add = (id: number) => query('INSERT INTO things VALUES (?)', [id]);
const unavailable = {
  code: 'service_unavailable',
  options: { retryAfterSeconds: expect.any(Number), detail: expect.not.stringMatching(/ECONN|SQL|127\.0/) },
};

test('a connection that is lost in the middle leaves nothing, and is a 503', async () => {
  const work = transaction(async () => {
    await add(1);
    line.cut();
    await add(2);
  });
  await expect(work).rejects.toMatchObject(unavailable);
  await waitFor('the server has noticed', async () => !(await stored(1)));
  expect(await stored(2)).toBe(false);
});

test('a connection that is lost before COMMIT reaches the server is a 503, and nothing runs after it', async () => {
  const seen: string[] = [];
  const work = transaction(async () => {
    await add(3);
    afterCommit(() => seen.push('committed'));
    line.cut();
  });
  await expect(work).rejects.toMatchObject(unavailable);
  expect(seen).toEqual([]);
  await waitFor('the server has noticed', async () => !(await stored(3)));
});

test('a COMMIT whose answer is lost is a 503, for nobody can tell what became of it', async () => {
  const seen: string[] = [];
  const work = transaction(async () => {
    await add(4);
    afterCommit(() => seen.push('committed'));
    line.delay(500);
  });
  const refused = expect(work).rejects.toMatchObject(unavailable);
  await waitFor('the COMMIT has reached the server', () => stored(4));
  line.cut();
  await refused;
  expect(seen).toEqual([]);
});

test('while the database is away every statement is a 503, and soon after it is back all is well', async () => {
  line.refuse();
  for (const work of [() => query('SELECT 1'), () => transaction(() => add(5))])
    await expect(work()).rejects.toMatchObject(unavailable);
  await line.pass();
  await waitFor('it works again', () => transaction(() => add(6)).then(() => true));
  expect(await stored(6)).toBe(true);
  expect(await stored(5)).toBe(false);
});

test('connections that broke while they were idle are not used again', async () => {
  await Promise.all(Array.from({ length: 8 }, () => query('SELECT SLEEP(0.05)')));
  line.cut();
  // The clock keeps asking for the time, so one connection may be open again.
  await waitFor('the connections are gone', () => line.connections() < 4);
  // This process reads the close of its sockets in its next turns; a connection used before then may fail.
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => query('SELECT 1')));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill('fulfilled'));
});
