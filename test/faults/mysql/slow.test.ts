// @slow: it starts processes or servers of its own.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { type Answer, clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

const poolSize = 3;

async function startSlow(settings: Record<string, string> = {}) {
  const line = await startTcpProxy(config.MYSQL_URL, 3306);
  const web = await startWeb({ MYSQL_URL: line.url, MYSQL_POOL_SIZE: String(poolSize), ...settings });
  const api = clientOf(web.url);
  const post = (reference: string): Promise<Answer> =>
    api.request('POST', '/v2/email', {
      key: own.key,
      headers: { 'idempotency-key': reference },
      body: newEmail(own, { clientReference: reference }),
    });
  return { line, web, api, post };
}

const references = (count: number) => Array.from({ length: count }, () => randomUUID());

async function expectOnceEach(post: (reference: string) => Promise<Answer>, all: string[]): Promise<void> {
  for (const reference of all)
    await waitFor('it is accepted', async () => (await post(reference)).status === 201);
  const rows = await query('SELECT COUNT(*) AS n FROM emails WHERE client_reference IN (?)', [
    all.map((reference) => Buffer.from(reference)),
  ]);
  expect(Number(rows[0]!['n'])).toBe(all.length);
}

function expectRefused({ status, headers, body }: Answer): void {
  expect(status).toBe(503);
  expect(body.type).toMatch(/service_unavailable$/);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}

// These tests run concurrently because both mostly wait.
// Shows F23
test.concurrent('with MySQL half a second away, more requests than connections: each is done or told to come back', async () => {
  const { line, web, post } = await startSlow();
  const all = references(4 * poolSize);
  await post(all[0]!);
  line.delay(250);
  const answers = await Promise.all(all.map(post));
  const refused = answers.filter(({ status }) => status !== 201);
  // The requests share commits, so most or all are done; a request that waits for 5 seconds is refused.
  refused.forEach(expectRefused);
  expect(line.connections()).toBeLessThanOrEqual(poolSize);
  await line.pass();
  await expectOnceEach(post, all);
  expect(web.isRunning()).toBe(true);
});

// Shows F23
test.concurrent('when MySQL hangs every request is answered in bounded time, none piles up, and no lock is left when it is back', async () => {
  const { line, web, api, post } = await startSlow({ MYSQL_TIMEOUT_SECONDS: '3' });
  const all = references(4 * poolSize);
  await post(all[0]!);
  line.freeze();
  const answers = await Promise.all(all.map(post));
  answers.forEach(expectRefused);
  expect((await api.request('GET', '/health/live')).status).toBe(200);
  await line.pass();
  await expectOnceEach(post, all);
  await waitFor('what was given up is closed', () => line.connections() <= poolSize);
  expect(web.isRunning()).toBe(true);
});
