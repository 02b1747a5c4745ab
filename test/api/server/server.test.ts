// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let web: Awaited<ReturnType<typeof startWeb>>;
beforeAll(async () => {
  web = await startWeb();
});

test('a request leaves one line with its id and its caller, and without key, query or body', async () => {
  const { key, keyId, workspaceId } = await workspace();
  const { request } = clientOf(web.url);
  const headers = { 'Request-Id': 'the-one' };
  await request('GET', '/v2/email?recipient=person@example.net', { key, headers });
  await request('POST', '/v2/webhooks', { key, headers, body: { url: 'hidden-text' } });
  const lines = await waitFor('both lines', () => {
    const found = web
      .output()
      .split('\n')
      .filter((line) => line.includes('"the-one"'));
    return found.length >= 2 && found;
  });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'info',
      method: 'GET',
      path: '/v2/email',
      status: 200,
      keyId,
      workspaceId,
    }),
    expect.objectContaining({
      level: 'info',
      method: 'POST',
      path: '/v2/webhooks',
      status: 400,
      keyId,
      workspaceId,
    }),
  ]);
  for (const secret of [key, 'person@example.net', 'hidden-text']) expect(web.output()).not.toContain(secret);
});

test('health checks and loads of tracking images leave no line of level info, unless they fail', async () => {
  const { request } = clientOf(web.url);
  const before = web.output().length;
  for (const path of ['/health/ready', '/health/live', '/o/none.gif'])
    expect((await request('GET', path)).status).toBe(200);
  expect((await request('POST', '/health/ready')).status).toBe(405);
  await request('GET', '/v2/workspace');
  const paths = () =>
    web
      .output()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line))
      .map(({ level, method, path }) => [level, method, path]);
  // The lines come in the order of the requests.
  await waitFor('the line of the last', () => paths().some(([, , path]) => path === '/v2/workspace'));
  expect(paths()).toEqual([
    ['info', 'POST', '/health/ready'],
    ['info', 'GET', '/v2/workspace'],
  ]);
});

test('the process is ready once it serves', async () => {
  const { status, body } = await clientOf(web.url).request('GET', '/health/ready');
  expect([status, body]).toEqual([200, { ready: true, mysql: 'up', redis: 'up' }]);
});
