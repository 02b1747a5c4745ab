import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { endAfterRequest, readBody } from '../../../api/middleware/raw-body.ts';
import type { ErrorCode } from '../../../shared/common/errors.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { goodKey, parseRaw, sendRaw, startSmallApi } from '../endpoint/small-api.ts';

const api = await startSmallApi();
const json = '{"name":"a","weightGrams":1}';

async function codeOf(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<string> {
  const { status, body: answer } = await api.call('POST', '/v2/parcels', { body, headers });
  return status === 201 ? 'accepted' : answer.type.slice(`${api.url}/problems/`.length);
}

const withType = (type: string) => codeOf(json, { 'content-type': type });

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
])('JSON in UTF-8 is read: %s', async (type) => expect(await withType(type)).toBe('accepted'));

// Shows A46, A47
test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/problem+json',
  'application/vnd.api+json',
  'application/jsonp',
  'application/json, application/json',
  'application/json; charset=utf-16',
  'application/json; charset=utf-7',
  'application/json; charset=latin1',
  'application/json; charset=bogus',
  'application/json; charset=utf-8; charset=utf-16',
  'application/json; ;;=x',
  '',
])('any other content type is 415: %s', async (type) => {
  expect(await withType(type)).toBe('unsupported_media_type');
});

// Shows A46
test('a body without a type, or with two, is 415', async () => {
  const types = ['', 'Content-Type: application/json\r\nContent-Type: application/json\r\n'];
  for (const lines of types) {
    const head = `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${goodKey}\r\n${lines}`;
    const answer = parseRaw(await sendRaw(api.port, `${head}Content-Length: ${json.length}\r\n\r\n${json}`));
    expect(answer.status).toBe(415);
  }
});

// Shows A19
test.each(['gzip', 'deflate', 'br', 'zstd', 'identity', 'x'])(
  'a Content-Encoding is 415: %s',
  async (encoding) => {
    expect(await codeOf(gzipSync(json), { 'content-encoding': encoding })).toBe('unsupported_media_type');
  },
);

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

const free = (values: number) => `{"name":"a","weightGrams":1,"extra":{"x":1${',"x":1'.repeat(values - 1)}}}`;

test.each<[string, string | Uint8Array, ErrorCode | 'accepted']>([
  ['not JSON', '{"name":', 'malformed_json'],
  ['something after the object', `${json}x`, 'malformed_json'],
  ['a string', '"text"', 'malformed_json'],
  ['a number', '1', 'malformed_json'],
  ['null', 'null', 'malformed_json'],
  ['an array', `[${json}]`, 'malformed_json'],
  ['blanks only', '   ', 'malformed_json'],
  ['NaN', '{"name":NaN}', 'malformed_json'],
  ['single quotes', "{'name':'a'}", 'malformed_json'],
  // Shows A47
  ['invalid UTF-8', bytes('{"name":"', [0xff], '","weightGrams":1}'), 'malformed_json'],
  ['half of a UTF-8 sequence', bytes('{"name":"', [0xe2, 0x82], '","weightGrams":1}'), 'malformed_json'],
  ['UTF-16', Buffer.from(json, 'utf16le'), 'malformed_json'],
  // Shows A47
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], json), 'accepted'],
  // Shows A20
  ['33 levels', `{"x":${nested('[', ']', 32)}}`, 'malformed_json'],
  // Shows A20
  ['5,000 levels of arrays', nested('[', ']', 5_000), 'malformed_json'],
  // Shows A20
  ['90,000 levels that never close', '{"x":'.repeat(30_000), 'malformed_json'],
  ['32 levels', `{"name":"a","weightGrams":1,"x":${nested('[', ']', 31)}}`, 'accepted'],
  ['brackets in a string', `{"name":"a","weightGrams":1,"x":"${'['.repeat(99)}"}`, 'accepted'],
  [
    'brackets after an escaped quote',
    `{"name":"a","weightGrams":1,"x":"\\"${'['.repeat(99)}\\\\"}`,
    'accepted',
  ],
  [
    'levels after a string that ends in a backslash',
    `{"x":"\\\\","y":${nested('[', ']', 40)}}`,
    'malformed_json',
  ],
  ['duplicate keys, of which the last counts', '{"name":"","name":"a","weightGrams":1}', 'accepted'],
  // Shows A18
  ['a number beyond 2^53', '{"name":"a","weightGrams":9007199254740993}', 'validation_failed'],
  // Shows A18
  ['1e400', '{"name":"a","weightGrams":1e400}', 'validation_failed'],
  // Shows A21
  ['30,000 unknown keys', `{"name":"a","weightGrams":1${',"x":1'.repeat(30_000)}}`, 'accepted'],
  ['50,000 values', `{"name":"a","weightGrams":1,"x":[0${',0'.repeat(49_996)}]}`, 'accepted'],
  // Shows A21
  ['50,001 values', `{"name":"a","weightGrams":1,"x":[0${',0'.repeat(49_997)}]}`, 'payload_too_large'],
  ['20,000 values of free form', free(20_000), 'accepted'],
  ['20,001 values of free form', free(20_001), 'validation_failed'],
])('%s', async (_name, body, code) => {
  expect(await codeOf(body)).toBe(code);
});

test('an empty body is told which fields it lacks', async () => {
  const { status, body } = await api.call('POST', '/v2/parcels');
  expect(status).toBe(400);
  expect(body.errors).toEqual({ name: ['is required'], weightGrams: ['is required'] });
});

test('an operation without a body takes none, an empty one and an object, whatever its type says of nothing', async () => {
  const path = '/v2/failures';
  const hold = `/v2/parcels/${(await api.call('POST', '/v2/parcels', { body: json })).body.id}/weigh`;
  expect((await api.call('POST', hold)).status).toBe(200);
  expect((await api.call('POST', hold, { headers: { 'content-type': 'text/plain' } })).status).toBe(200);
  expect((await api.call('POST', hold, { body: {} })).status).toBe(200);
  expect((await api.call('POST', hold, { body: '{' })).status).toBe(400);
  expect((await api.call('POST', path)).status).toBe(500);
});

const limit = 200_000;
const padded = (length: number) => json + ' '.repeat(length - json.length);
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

// Shows A19
test('a body of exactly the limit is read, one byte more is 413', async () => {
  expect(await codeOf(padded(limit))).toBe('accepted');
  expect(await codeOf(padded(limit + 1))).toBe('payload_too_large');
});

// Shows A19
test('a chunked body is counted too, and refused as soon as it is too long', async () => {
  const head = `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n`;
  const fits = await sendRaw(api.port, `${head}Connection: close\r\n\r\n`, chunk(json), '0\r\n\r\n');
  expect(parseRaw(fits).status).toBe(201);
  // The last chunk never comes, so a server that waited for it would never answer.
  const tooLong = parseRaw(
    await sendRaw(api.port, `${head}\r\n`, ...Array(5).fill(chunk('x'.repeat(50_000)))),
  );
  expect([tooLong.status, tooLong.json().type]).toEqual([413, `${api.url}/problems/payload_too_large`]);
  expect(tooLong.headers.get('connection')).toBe('close');
});

test('a huge Content-Length is refused before its first byte arrives', async () => {
  const head = `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Type: application/json\r\n`;
  const answer = parseRaw(await sendRaw(api.port, `${head}Content-Length: 4000000000\r\n\r\n`));
  expect(answer.status).toBe(413);
});

// Shows A21
test('a list is refused by its length before thousands of bad items are looked at', async () => {
  const items = Array(20_000).fill('{}').join();
  const { body } = await api.call('POST', '/v2/parcels', {
    body: `{"name":"a","weightGrams":1,"rows":[${items}]}`,
  });
  expect(body.errors).toEqual({ rows: ['must have at most 5 items'] });
});

test.each([
  ['{"name":', 1, 9],
  ['{\n  "name": "a",\n  "weightGrams": 1,\n}', 4, 1],
  [`{${' '.repeat(70_000)}\n"extra":{${'"a":[],'.repeat(3_000)}}}`, 2, 9 + 7 * 3_000 + 1],
])('where a body stops to be JSON is told by line and column (%#)', async (body, line, column) => {
  const answer = await api.call('POST', '/v2/parcels', { body });
  expect([answer.status, answer.body.detail]).toEqual([
    400,
    `The body is not valid JSON at line ${line}, column ${column}.`,
  ]);
});

test('a body that trickles in pieces is put together', async () => {
  const head = `POST /v2/parcels HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Type: application/json\r\n`;
  const text = '{"name":"é€","weightGrams":1}';
  const whole = Buffer.from(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  const answer = await sendRaw(api.port, ...Array.from(whole, (byte) => Buffer.of(byte)));
  expect(parseRaw(answer).json().seen.name).toBe('é€');
});

// Shows A19
test('a body that does not come to its end in time is 408', async () => {
  const server = http.createServer((request, response) => void serve(request, response));
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const outcome = await readBody(request, response, {
      limitBytes: 100,
      timeoutMs: 50,
      leastRate: { bytes: 0, withinMs: 1_000 },
      owner: 'nobody',
      busyCode: 'service_unavailable',
    }).catch((error) => error);
    endAfterRequest(request, response, 200, { 'Content-Length': outcome.code.length }, outcome.code);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
  const answer = await sendRaw(port, head);
  expect(answer.split('\r\n\r\n')[1]).toBe('request_timeout');
  expect(answer).toMatch(/\r\nConnection: close\r\n/);
});
