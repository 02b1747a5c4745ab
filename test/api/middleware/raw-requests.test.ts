import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from 'vitest';
import { catalogue, type ErrorCode } from '../../../shared/common/errors.ts';
import { goodKey, parseRaw, sendRaw, startSmallApi } from '../endpoint/small-api.ts';

const api = await startSmallApi();
const auth = `Authorization: Bearer ${goodKey}\r\n`;
const get = (target: string, lines: string) => `GET ${target} HTTP/1.1\r\n${lines}\r\n`;

function expectProblem(raw: string, code: ErrorCode) {
  const answer = parseRaw(raw);
  const document = answer.json();
  expect(document.type.split('/problems/')[1]).toBe(code);
  expect(document.status).toBe(catalogue[code].status);
  expect(answer.status).toBe(catalogue[code].status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(document.requestId).toBe(answer.headers.get('request-id'));
  expect(document.requestId).toMatch(/^[\w.-]{1,128}$/);
  return answer;
}

// Shows A48
test.each<[string, string]>([
  ['what is not HTTP', 'hello\r\n\r\n'],
  ['TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['another version of HTTP', 'GET / HTTP/3.0\r\nHost: a\r\n\r\n'],
  ['a header name that is no token', get('/', 'Host: a\r\n@x: 1\r\n')],
  ['a folded header', get('/', 'Host: a\r\nX: 1\r\n 2\r\n')],
  ['a NUL in a header', get('/', 'Host: a\r\nX: a\0b\r\n')],
  ['lines that end in LF only', 'GET / HTTP/1.1\nHost: a\n\n'],
  [
    'Content-Length and Transfer-Encoding',
    `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ],
  [
    'two values of Content-Length',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  ],
  ['a Content-Length that is no number', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
  [
    'a chunk size that is no number',
    `POST /v2/parcels HTTP/1.1\r\nHost: a\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  ],
  ['no Host', get('/v2/parcels', auth)],
  ['two Hosts', get('/v2/parcels', `Host: a\r\nHost: a\r\n${auth}`)],
  ['an absolute target', get('http://other.example/v2/parcels', `Host: a\r\n${auth}`)],
  ['a target that is no path', get('*', `Host: a\r\n${auth}`)],
])('%s is 400, as a problem', async (_name, bytes) => {
  expectProblem(await sendRaw(api.port, bytes), 'validation_failed');
});

test('HTTP/1.0 needs no Host, as old health checks send none', async () => {
  expect(parseRaw(await sendRaw(api.port, 'GET /health/live HTTP/1.0\r\n\r\n')).status).toBe(200);
});

// Shows A7
test('two Authorization headers are no authorization', async () => {
  expectProblem(await sendRaw(api.port, get('/v2/parcels', `Host: a\r\n${auth}${auth}`)), 'unauthenticated');
  const mixed = `Host: a\r\nAuthorization: Bearer bad\r\n${auth}`;
  expectProblem(await sendRaw(api.port, get('/v2/parcels', mixed)), 'unauthenticated');
});

// Shows A48
test('two Service-Versions are no version', async () => {
  const twice = 'Service-Version: 2026-11-01\r\n'.repeat(2);
  expectProblem(
    await sendRaw(api.port, get('/v2/parcels', `Host: a\r\n${auth}${twice}`)),
    'unsupported_version',
  );
});

test.each([
  ['headers', () => get('/v2/parcels', `Host: a\r\nX: ${'x'.repeat(20_000)}\r\n`)],
  ['a URL', () => get(`/${'x'.repeat(20_000)}`, 'Host: a\r\n')],
  ['a megabyte of headers', () => get('/', `Host: a\r\n${`X: ${'x'.repeat(1000)}\r\n`.repeat(1000)}`)],
])('%s beyond 16 KiB: 431, as a problem', async (_name, bytes) => {
  expectProblem(await sendRaw(api.port, bytes()), 'header_fields_too_large');
});

test('CONNECT is 405', async () => {
  expectProblem(await sendRaw(api.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'), 'method_not_allowed');
});

test('a demand to speak another protocol is ignored', async () => {
  const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  expect(parseRaw(await sendRaw(api.port, get('/health/live', upgrade))).status).toBe(200);
});

test('an expectation that nobody knows is ignored', async () => {
  expect(parseRaw(await sendRaw(api.port, get('/health/live', 'Host: a\r\nExpect: tea\r\n'))).status).toBe(
    200,
  );
});

// Shows A28
test('headers that do not arrive in time are 408, and the connection is closed', async () => {
  const impatient = await startSmallApi({ headersTimeoutMs: 300, requestTimeoutMs: 300 });
  const socket = net.connect(impatient.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk));
  socket.write('GET /v2/parcels HTTP/1.1\r\nHost: a\r\n');
  await once(socket, 'close');
  expectProblem(answer, 'request_timeout');
});

// Shows A28
test('a body that does not arrive in time is 408 under the request’s own id', async () => {
  // The timeout is long enough for the headers to arrive in time, also on a busy machine.
  const impatient = await startSmallApi({ headersTimeoutMs: 2_000, requestTimeoutMs: 2_000 });
  const head = `POST /v2/parcels HTTP/1.1\r\nHost: a\r\n${auth}Request-Id: mine\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  const answer = parseRaw(await sendRaw(impatient.port, head));
  expect([answer.status, answer.headers.get('request-id')]).toEqual([408, 'mine']);
});

// Shows A19
test('garbage after a request does not become the answer to it', async () => {
  const socket = net.connect(api.port, '127.0.0.1');
  let answers = '';
  socket.on('data', (chunk) => (answers += chunk));
  socket.write(`${get('/health/live', 'Host: a\r\n')}garbage\r\n\r\n`);
  await once(socket, 'close');
  expect(answers.match(/HTTP\/1\.1 \d+/g)?.[0]).toBe('HTTP/1.1 200');
});

test('garbage in a body that was refused already brings no second answer', async () => {
  const socket = net.connect(api.port, '127.0.0.1');
  let answers = '';
  socket.on('data', (chunk) => (answers += chunk)).on('error', () => {});
  socket.write('POST /v2/parcels HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  await once(socket, 'data');
  socket.write('zz\r\n');
  await once(socket, 'close');
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
});
