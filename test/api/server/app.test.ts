import { expect, test } from 'vitest';
import { currentVersion } from '../../../shared/common/versions.ts';
import { closeDatabase } from '../../../shared/db/client.ts';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { knownId, startSmallApi } from '../endpoint/small-api.ts';

// The database and the queues read their addresses from settings, which a test below changes.
atEnd(closeDatabase);
atEnd(closeQueues);
const api = await startSmallApi();

test('a client keeps its own Request-Id, in the header and in the problem', async () => {
  const { headers, body } = await api.call('GET', '/v2/nowhere', {
    headers: { 'Request-Id': 'My.own_id-1' },
  });
  expect(headers['request-id']).toBe('My.own_id-1');
  expect(body.requestId).toBe('My.own_id-1');
});

test.each(['', 'has space', 'ünicode'.normalize('NFC'), 'a'.repeat(129), 'a"b', 'one, two'])(
  'a Request-Id that could not be logged safely is replaced: %s',
  async (given) => {
    const { headers } = await api.call('GET', '/v2/parcels', { headers: { 'Request-Id': given } });
    expect(headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test('a POST that makes a record answers 201 with an absolute Location', async () => {
  const { status, headers, body } = await api.call('POST', '/v2/parcels', {
    body: { name: 'a', weightGrams: 1 },
  });
  expect(status).toBe(201);
  expect(headers['location']).toBe(`${api.url}/v2/parcels/${knownId}`);
  expect(body).toEqual({ id: knownId, seen: { name: 'a', weightGrams: 1 } });
});

test('a DELETE without a body answers 204 with nothing', async () => {
  const { status, headers, body } = await api.call('DELETE', `/v2/parcels/${knownId}`);
  expect([status, body, headers['content-type']]).toEqual([204, '', undefined]);
});

test('what changes runs in one transaction, what reads in none', async () => {
  api.transactions.length = 0;
  await api.call('GET', `/v2/parcels/${knownId}`);
  expect(api.transactions).toEqual([]);
  await api.call('DELETE', `/v2/parcels/${knownId}`);
  expect(api.transactions).toEqual(['began', 'committed']);
});

test('a refused or failed request commits nothing', async () => {
  api.transactions.length = 0;
  await api.call('POST', '/v2/parcels', { body: {} });
  expect(api.transactions).toEqual([]);
  await api.call('POST', '/v2/failures', { body: {} });
  expect(api.transactions).toEqual(['began']);
});

test('what was prepared reaches the handler', async () => {
  const { body } = await api.call('POST', `/v2/parcels/${knownId}/weigh`);
  expect(body.seen).toBe(`prepared for ${knownId}`);
});

test('an answer is not cached, sniffed, tagged or shared with other origins, and names no product', async () => {
  const { headers } = await api.call('GET', '/v2/parcels', { headers: { Origin: 'https://other.example' } });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  for (const name of ['x-powered-by', 'etag', 'server', 'access-control-allow-origin', 'vary'])
    expect(headers).not.toHaveProperty(name);
});

// Shows A48
test.each([
  ['POST', `/v2/parcels/${knownId}`, 'GET, HEAD, DELETE'],
  ['PUT', '/v2/parcels', 'POST, GET, HEAD'],
  ['OPTIONS', '/v2/parcels', 'POST, GET, HEAD'],
  ['TRACE', '/v2/held', 'POST'],
  ['POST', '/problems', 'GET, HEAD'],
  ['DELETE', '/health/live', 'GET, HEAD'],
  ['POST', '/docs', 'GET, HEAD'],
  ['POST', '/openapi.json', 'GET, HEAD'],
  ['POST', '/', 'GET, HEAD'],
])('%s %s is 405 with the methods that are allowed', async (method, path, allow) => {
  const { status, headers, body } = await api.call(method, path);
  expect([status, headers['allow'], body.type]).toEqual([
    405,
    allow,
    `${api.url}/problems/method_not_allowed`,
  ]);
});

test.each([
  '/v2',
  '/v2/parcels/',
  '/V2/parcels',
  '/v2//parcels',
  '/v1/parcels',
  '/..%2fpackage.json',
  '/assets/../app.ts',
])('%s is 404, for only the exact path is the operation', async (path) => {
  const { status, body } = await api.call('GET', path);
  expect([status, body.type]).toEqual([404, `${api.url}/problems/not_found`]);
});

test.each([
  ['POST', '/v2/parcels/lookup'],
  ['PUT', `/v2/parcels/${knownId}0`],
  ['POST', `/v2/parcels/${knownId}/unknown`],
])('%s %s is 404: nothing can have that name', async (method, path) => {
  const { status, body } = await api.call(method, path);
  expect([status, body.detail]).toEqual([404, 'The path is unknown: no operation or page has it.']);
});

test('a method that a record does not have is 405', async () => {
  const { status, headers } = await api.call('POST', `/v2/parcels/${knownId}`);
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, DELETE']);
});

test('not_found says whether it is the path or the id that is unknown', async () => {
  const detailOf = async (path: string) => (await api.call('GET', path)).body.detail;
  expect(await detailOf('/v2/nothing')).toBe('The path is unknown: no operation or page has it.');
  expect(await detailOf('/v2/parcels/')).toBe(
    'The path is unknown: no operation or page has it. Remove the slash at its end.',
  );
  expect(await detailOf('/v2/parcels/nothing')).toBe(
    'The id in the path is unknown: this workspace has no record with it.',
  );
});

test.each(['/docs/', '/docs/guides/', '/docs/guides/retry-safely/', '/problems/', '/problems/not_found/'])(
  '%s leads to the page without the slash',
  async (path) => {
    const answer = await fetch(`${api.url}${path}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([308, path.slice(0, -1)]);
    expect((await fetch(`${api.url}${path}`)).status).toBe(200);
  },
);

test('/favicon.ico, which browsers ask for of their own accord, is the icon', async () => {
  const answer = await fetch(`${api.url}/favicon.ico`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
});

test('HEAD answers as GET does, without the body', async () => {
  const { status, headers, body } = await api.call('HEAD', '/v2/parcels');
  expect([status, body]).toEqual([200, '']);
  expect(Number(headers['content-length'])).toBeGreaterThan(10);
});

// Shows A48
test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
  '%s changes nothing',
  async (name) => {
    const { status } = await api.call('GET', `/v2/parcels/${knownId}`, { headers: { [name]: 'DELETE' } });
    expect(status).toBe(200);
  },
);

test('the version in force is the header’s, else the key’s, else the current one, and is echoed', async () => {
  for (const call of [{}, { headers: { 'Service-Version': '2026-11-01' } }, { key: 'msg_pinned' }]) {
    const { headers, body } = await api.call('GET', '/v2/parcels', call);
    expect([headers['service-version'], body.id]).toEqual([currentVersion, currentVersion]);
  }
});

test.each(['2025-01-01', 'latest', '', '2026-11-01, 2026-11-01'])(
  'version "%s" is refused',
  async (version) => {
    const { status, body } = await api.call('GET', '/v2/parcels', {
      headers: { 'Service-Version': version },
    });
    expect([status, body.type]).toEqual([400, `${api.url}/problems/unsupported_version`]);
  },
);

test('the process is live without a key, and not ready while MySQL is away', async () => {
  changeSettings({ MYSQL_URL: 'mysql://root@127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' });
  expect(await api.call('GET', '/health/live', { key: null })).toMatchObject({
    status: 200,
    body: { live: true },
  });
  expect(await api.call('GET', '/health/ready', { key: null })).toMatchObject({
    status: 503,
    body: { ready: false, mysql: 'down', redis: 'down' },
  });
});
