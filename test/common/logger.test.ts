import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { loggedPath } from '../../api/middleware/request-log.ts';
import { logger } from '../../shared/common/logger.ts';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import { useDatabase } from '../support/database/database.ts';
import { makeTable } from '../support/database/own-table.ts';

useDatabase();

/** Returns the text that the logger writes for an error. */
function lineOf(error: unknown): string {
  const { err } = (logger as unknown as Record<symbol, any>)[pino.symbols.serializersSym];
  return JSON.stringify(err(error));
}

const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

test('an error of MySQL is logged without the statement and without its values', async () => {
  await makeTable('marks', 'name VARBINARY(100) PRIMARY KEY, size INT');
  const insert = (name: string, size: unknown) => query('INSERT INTO marks VALUES (?, ?)', [name, size]);
  await insert('ada@example.com', 1);
  await insert("o'ada@example.com", 1);
  for (const [failure, kept] of [
    [await failureOf(insert('ada@example.com', 1)), 'ER_DUP_ENTRY'],
    [await failureOf(insert('other', 'ada@example.com')), '"code":"'],
    [await failureOf(query("SELECT 'ada@example.com' FROM nowhere")), 'nowhere'],
    [await failureOf(insert("o'ada@example.com", 1)), 'ER_DUP_ENTRY'],
    [await failureOf(query("SELEC 'ada@example.com'")), 'ER_PARSE_ERROR'],
  ]) {
    const line = lineOf(failure);
    expect(line).not.toMatch(/ada@example|INSERT|sqlMessage|"sql"/);
    expect(line).toContain(kept);
    expect(line).toContain('    at ');
  }
});

test('an error of Redis is logged without the command, of which the password is a part', async () => {
  const url = new URL(config.REDIS_URL);
  const redis = new Redis(url.href, { lazyConnect: true, retryStrategy: () => null });
  await redis.connect();
  const failure = await failureOf(redis.call('AUTH', 'nobody', 'the-password'));
  redis.disconnect();
  expect(JSON.stringify(failure)).toContain('the-password');
  expect(lineOf(failure)).toContain('WRONGPASS');
  expect(lineOf(failure)).not.toContain('the-password');
});

test('what was the cause is said, too', () => {
  const line = lineOf(new Error('The outer', { cause: new Error('the inner') }));
  expect(line).toContain('The outer');
  expect(line).toContain('the inner');
});

test.each([
  ['/v2/email?recipient=ada@example.com', '/v2/email'],
  ['/v2/email/email_01h455vb4pex5vsknk084sn02q', '/v2/email/email_01h455vb4pex5vsknk084sn02q'],
  ['/v2/simulator/phones/07700900150/messages', '/v2/simulator/phones/…/messages'],
  ['/v2/simulator/phones/%2B447700900150/messages', '/v2/simulator/phones/…/messages'],
  ['/v2/suppressions/ada%40example.com', '/v2/suppressions/…'],
  ['/suppressions/ada@example.com', '/suppressions/…'],
  ['/v1/contacts/+447700900150', '/v1/contacts/…'],
  ['/u/01h455vb4pex5vsknk084sn02q', '/u/…'],
  ['/l/7hFk2Lq0Z', '/l/…'],
  ['/o/01h455vb4pex5vsknk084sn02q.gif', '/o/…'],
  ['/confirm/abc/def', '/confirm/…'],
  ['/docs/guides/retry-safely', '/docs/guides/retry-safely'],
])('of %s the log has %s', (url, path) => {
  expect(loggedPath(url)).toBe(path);
});
