import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from 'vitest';
import { problemAnswer } from '../../../api/middleware/problems.ts';
import { catalogue, type ErrorCode, problem } from '../../../shared/common/errors.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { goodKey, knownId, longestKey, startSmallApi } from '../endpoint/small-api.ts';

const api = await startSmallApi();

async function refused(answer: ReturnType<typeof api.call>, code: ErrorCode) {
  const { status, headers, body } = await answer;
  expect({ ...body, errors: undefined, detail: undefined }).toEqual({
    type: `${api.url}/problems/${code}`,
    title: catalogue[code].title,
    status: catalogue[code].status,
    detail: undefined,
    errors: undefined,
    requestId: headers['request-id'],
  });
  expect(status).toBe(catalogue[code].status);
  expect(headers['content-type']).toBe('application/problem+json');
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-content-type-options']).toBe('nosniff');
  return { headers, body };
}

// Shows A7, A13
test.each([
  ['none', undefined],
  ['the scheme alone', 'Bearer'],
  ['an empty token', 'Bearer '],
  ['another scheme', `Basic ${btoa(`a:${goodKey}`)}`],
  ['an unknown key', 'Bearer msg_unknown'],
  ['two tokens', `Bearer ${goodKey} ${goodKey}`],
  ['two tokens with a comma', `Bearer ${goodKey}, Bearer ${goodKey}`],
  ['a key without a scheme', goodKey],
  ['more than 200 characters', `Bearer ${longestKey}x`],
  ['a tab for the space', `Bearer\t${goodKey}`],
])('every bad Authorization gets the same 401: %s', async (_name, header) => {
  const headers: Record<string, string> = header === undefined ? {} : { Authorization: header };
  const answer = await refused(api.call('GET', '/v2/parcels', { key: null, headers }), 'unauthenticated');
  expect(answer.headers['www-authenticate']).toBe('Bearer');
  expect(answer.body.detail).toBe(catalogue.unauthenticated.help);
});

test('a page with another way to sign in says so itself', () => {
  const headers = { 'WWW-Authenticate': 'Basic realm="operations"' };
  expect(problemAnswer(problem('unauthenticated', { headers }), 'id').headers).toMatchObject(headers);
});

test('the scheme of Authorization is read in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer '])
    expect(
      (
        await api.call('GET', '/v2/parcels', {
          key: null,
          headers: { Authorization: `${scheme} ${goodKey}` },
        })
      ).status,
    ).toBe(200);
});

test('an Authorization of 200 characters is read', async () => {
  expect((await api.call('GET', '/v2/parcels', { key: longestKey })).status).toBe(200);
});

// Shows A7
test('a key in the query opens nothing', async () => {
  await refused(api.call('GET', `/v2/parcels?access_token=${goodKey}`, { key: null }), 'unauthenticated');
});

test('a missing scope is 403 and named', async () => {
  const call = api.call('POST', '/v2/parcels', { key: 'msg_reader', body: {} });
  const { body } = await refused(call, 'forbidden');
  expect(body.detail).toContain('contacts.write');
});

test('key and scope are checked before the body', async () => {
  await refused(api.call('POST', '/v2/parcels', { key: null, body: '{not json' }), 'unauthenticated');
  await refused(api.call('POST', '/v2/parcels', { key: 'msg_reader', body: '{not json' }), 'forbidden');
});

test('a malformed id, an unknown one and one of another kind give the same 404', async () => {
  const unknown = `${knownId.slice(0, -1)}${knownId.endsWith('0') ? '1' : '0'}`;
  const ids = [unknown, 'x', knownId.replace('contact', 'email'), knownId.toUpperCase(), `${knownId}0`];
  const encoded = ['..%2f', '%00', '%E0%A4%A', '%', `${knownId}%0a`];
  const details = new Set<string>();
  for (const id of [...ids, ...encoded])
    details.add((await refused(api.call('GET', `/v2/parcels/${id}`), 'not_found')).body.detail);
  expect(details.size).toBe(1);
});

// Shows A49
test('an unforeseen error is 500 and tells nothing of itself', async () => {
  const { body } = await refused(api.call('POST', '/v2/failures', { body: {} }), 'internal_error');
  expect(JSON.stringify(body)).not.toMatch(/SELECT|hidden_table|\.ts|node_modules/);
});

test('a lost database connection is 503 with Retry-After', async () => {
  const call = api.call('POST', '/v2/failures', { body: { code: 'ECONNREFUSED' } });
  const { headers } = await refused(call, 'service_unavailable');
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});

test('a bad key with 5 MB behind it gets its answer, and the connection is closed', async () => {
  const socket = net.connect(api.port, '127.0.0.1');
  const received: Buffer[] = [];
  let failure: Error | undefined;
  socket.on('data', (chunk) => received.push(chunk)).on('error', (error) => (failure = error));
  const closed = once(socket, 'close');
  socket.write(
    'POST /v2/parcels HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer bad\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n',
  );
  socket.end(Buffer.alloc(5_000_000, 0x61));
  await closed;
  const answer = Buffer.concat(received).toString();
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
  expect(answer).toMatch(/\r\nConnection: close\r\n/);
  expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ status: 401 });
  expect(failure).toBeUndefined();
});

test('a small body behind a refusal costs the client no new connection', async () => {
  const head =
    'POST /v2/parcels HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n';
  const socket = net.connect(api.port, '127.0.0.1');
  let answers = '';
  socket.on('data', (chunk) => (answers += chunk));
  socket.write(`${head}\r\n{}${head}Authorization: Bearer ${goodKey}\r\n\r\n{}`);
  await waitFor('both answers', () => answers.includes('weightGrams'));
  expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 400']);
  socket.destroy();
});

test('a client that waits for 100 Continue is refused before it sends the body', async () => {
  const socket = net.connect(api.port, '127.0.0.1');
  const head = 'POST /v2/parcels HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n';
  socket.write(head);
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});

test('a client that waits for 100 Continue gets it once its key is good', async () => {
  const socket = net.connect(api.port, '127.0.0.1');
  const body = JSON.stringify({ name: 'a', weightGrams: 1 });
  socket.write(
    `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  const [second] = (await once(socket, 'data')) as [Buffer];
  expect(second.toString()).toMatch(/^HTTP\/1.1 201 /);
  socket.destroy();
});

test('a client that leaves in the middle of its request harms nobody', async () => {
  const before = api.transactions.length;
  const connectionsBefore = await connections();
  const halfway = net.connect(api.port, '127.0.0.1');
  halfway.write(
    `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na`,
  );
  await once(halfway, 'connect');
  halfway.resetAndDestroy();

  const waiting = net.connect(api.port, '127.0.0.1');
  waiting.write(
    `POST /v2/held HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Length: 0\r\n\r\n`,
  );
  await api.held.started;
  waiting.resetAndDestroy();
  api.held.release();
  await waitFor('the held request to end', () => api.transactions.slice(before).includes('committed'));

  await waitFor('no connection of them to be left', async () => (await connections()) <= connectionsBefore);
  expect((await api.call('GET', '/v2/parcels')).status).toBe(200);
});

function connections(): Promise<number> {
  return new Promise((resolve, reject) =>
    api.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}
