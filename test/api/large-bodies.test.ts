import { hash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import net from 'node:net';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { inTurn, takenBytes } from '../../api/middleware/large-body.ts';
import { query } from '../../shared/db/client.ts';
import { useDatabase } from '../support/database.ts';
import { workspace } from '../support/factory.ts';
import { newEmail } from '../support/new-email.ts';
import { changeSettings } from '../support/settings.ts';
import { digestOf, signRequest } from '../support/sign-request.ts';
import { hmacKey } from '../support/signed-key.ts';
import { type Client, startApi } from '../support/start-api.ts';
import { waitFor } from '../support/wait-for.ts';
import { parseRaw, sendRaw } from './small-api.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
const budgetBytes = 100 * 1024 * 1024;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});
beforeEach(() => changeSettings({ LARGE_BODIES_BYTES: budgetBytes }));

const content = randomBytes(2_000_000).toString('base64');
const attachments = [{ filename: 'a.bin', contentType: 'a/b', content }];
const large = (changes: object = {}) => JSON.stringify(newEmail(own, { attachments, ...changes }));
const post = (body: string | Buffer, headers: Record<string, string> = {}, path = '/v2/email') =>
  api.request('POST', path, {
    key: own.key,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
const codeOf = ({ body }: { body: any }) => body.type?.slice(`${api.url}/problems/`.length);
const emailCount = async () => (await query('SELECT COUNT(*) AS n FROM emails'))[0]!.n as number;

/** The open files of this process whose names are gone. */
const openFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /messaging-body.*\(deleted\)$/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
/** A connection on which this much has been sent. */
async function openRaw(text: string): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}
const headOf = (path: string, length: number | null) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${own.key}\r\nContent-Type: application/json\r\n${
    length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  }\r\n\r\n`;
const nothingIsKept = () => waitFor('no large body is kept', () => takenBytes() === 0 && openFiles() === 0);

test('under an Idempotency-Key a large request is done once, and its answer replayed', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const first = await post(large(), key);
  expect(first.status).toBe(201);
  const before = await emailCount();
  const again = await post(large(), key);
  expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([201, 'true', first.body]);
  expect(await emailCount()).toBe(before);
  await nothingIsKept();
});

test('under an Idempotency-Key one other byte in the middle of a large body is another request', async () => {
  const key = { 'idempotency-key': randomUUID() };
  expect((await post(large(), key)).status).toBe(201);
  const other = `${content.slice(0, 1_000_000)}${content[1_000_000] === 'A' ? 'B' : 'A'}${content.slice(1_000_001)}`;
  const answer = await post(large({ attachments: [{ ...attachments[0], content: other }] }), key);
  expect([answer.status, codeOf(answer)]).toEqual([409, 'idempotency_key_reused']);
});

test('large requests with one Idempotency-Key at the same time make one email', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const before = await emailCount();
  const answers = await Promise.all(Array.from({ length: 4 }, () => post(large(), key)));
  expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
  for (const answer of answers)
    if (answer.status !== 201) expect(codeOf(answer)).toBe('idempotency_in_progress');
  expect(await emailCount()).toBe(before + 1);
});

test('the signature of a large request covers every byte of it', async () => {
  const { key, signer } = await hmacKey(own.workspaceId);
  const body = large();
  const send = (sent: string, digests: Record<string, string> = {}) => {
    const headers = { 'idempotency-key': randomUUID(), ...digests };
    const signed = signRequest({ method: 'POST', url: `${api.url}/v2/email`, headers, body }, signer);
    return api.request('POST', '/v2/email', { key, body: sent, headers: signed });
  };
  expect((await send(body)).status).toBe(201);
  const sha512 = { 'content-digest': `sha-512=:${hash('sha512', body, 'base64')}:` };
  expect((await send(body, sha512)).status).toBe(201);
  const changed = body.replace(
    content.slice(0, 50),
    content.slice(0, 49) + (content[49] === 'A' ? 'B' : 'A'),
  );
  for (const digests of [
    {},
    sha512,
    { 'content-digest': `${digestOf(body)}, ${sha512['content-digest']}` },
  ]) {
    const answer = await send(changed, digests);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'signature_invalid']);
  }
  await nothingIsKept();
});

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const start = () => large().slice(0, -1);
const padding = 'x'.repeat(65_530);
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

// Shows A20, A47
test.each<[string, () => string | Buffer, string | undefined]>([
  ['no end', start, 'malformed_json'],
  ['something after the object', () => `${large()}x`, 'malformed_json'],
  ['an array around it', () => `[${large()}]`, 'malformed_json'],
  ['an attachment that does not close', () => large().slice(0, 1_500_000), 'malformed_json'],
  ['invalid UTF-8 at the end', () => bytes(start(), ',"x":"', [0xff], '"}'), 'malformed_json'],
  ['half of a UTF-8 sequence at the very end', () => bytes(large(), [0xe2, 0x82]), 'malformed_json'],
  [
    'invalid UTF-8 within an attachment',
    () => bytes(large().slice(0, 1_000_000), [0xc3], large().slice(1_000_000)),
    'malformed_json',
  ],
  [
    'a bad escape within an attachment',
    () => large().replace(content.slice(0, 9), 'QUJD\\x41A'),
    'malformed_json',
  ],
  [
    'half of an escape within an attachment',
    () => large().replace(content.slice(0, 9), 'QUJD\\u00"'),
    'malformed_json',
  ],
  ['33 levels', () => `${start()},"x":${nested(32)}}`, 'malformed_json'],
  ['32 levels', () => `${start()},"x":${nested(31)}}`, undefined],
  ['brackets in a string', () => `${start()},"x":"${'['.repeat(99)}\\"{{{{"}`, undefined],
  ['a string that ends in backslashes', () => `${start()},"x":"\\\\\\\\","y":${nested(31)}}`, undefined],
  ['a byte order mark', () => bytes([0xef, 0xbb, 0xbf], large()), undefined],
  ['letters of many bytes across all pieces', () => `${start()},"x":"${'é€🙂'.repeat(200_000)}"}`, undefined],
  [
    'quotes and backslashes across all pieces',
    () => `${start()},"x":"${'\\\\\\"'.repeat(300_000)}"}`,
    undefined,
  ],
  ['blanks before it', () => ' '.repeat(2_000_000) + large(), undefined],
  ['a million values', () => `${start()},"x":[${'[],'.repeat(1_100_000)}0]}`, 'payload_too_large'],
])('a large body with %s is answered as a small one would be', async (_name, body, code) => {
  const answer = await post(body());
  expect(codeOf(answer)).toBe(code);
  expect(answer.status).toBe(code === undefined ? 201 : code === 'malformed_json' ? 400 : 413);
  await nothingIsKept();
});

test('an escape and a letter may lie across the pieces that a file is read in', async () => {
  const json = JSON.stringify(newEmail(own, { attachments: [{ ...attachments[0], content: '@' }] }));
  const [before, after] = json.split('"@"') as [string, string];
  for (let shift = 0; shift < 14; shift += 1) {
    const lead = 'A'.repeat(20 * 65_536 - shift);
    const text = `${lead}\\u002b\\/\\u002F`;
    const body = `${before}"${text}${'A'.repeat((4 - ((lead.length + 3) % 4)) % 4)}"${after}`;
    expect((await post(body)).status).toBe(201);
  }
});

test('a field of a batch of contacts may be as large as before', async () => {
  const contacts = Array.from({ length: 1_000 }, (_, index) => ({
    number: `+44791112${String(index).padStart(4, '0')}`,
    firstName: 'Ada',
  }));
  const body = JSON.stringify({ contacts, padding: padding.repeat(20) });
  const answer = await post(body, {}, '/v2/contacts/batch');
  expect([answer.status, answer.body.created]).toEqual([200, 1_000]);
});

test.each([
  ['/v2/email', 'email_not_queued'],
  ['/v2/contacts/batch', 'service_unavailable'],
])(
  '%s says %s at once, before any of the body has come, when there is no room for it',
  async (path, code) => {
    changeSettings({ LARGE_BODIES_BYTES: 1024 * 1024 });
    const port = Number(new URL(api.url).port);
    const answer = parseRaw(await sendRaw(port, headOf(path, 2_000_000)));
    expect([answer.status, answer.json().type]).toEqual([503, `${api.url}/problems/${code}`]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(takenBytes()).toBe(0);
  },
);

test('a chunked body for which there is no room is refused as soon as it is large', async () => {
  changeSettings({ LARGE_BODIES_BYTES: 1024 * 1024 });
  const port = Number(new URL(api.url).port);
  const piece = `${padding.length.toString(16)}\r\n${padding}\r\n`;
  const answer = parseRaw(await sendRaw(port, headOf('/v2/email', null), ...Array(20).fill(piece)));
  expect(answer.status).toBe(503);
  await nothingIsKept();
});

// Shows A28
test('a workspace that has half of the room leaves the other half to others', async () => {
  changeSettings({ LARGE_BODIES_BYTES: 12 * 1024 * 1024 });
  const other = await workspace();
  const open = () => openRaw(`${headOf('/v2/email', 3_000_000)}{`);
  const held = [await open(), await open()];
  await waitFor('both are held', () => takenBytes() === 6_000_000);
  expect(codeOf(await post(large()))).toBe('email_not_queued');
  const body = JSON.stringify(newEmail(other, { attachments }));
  const answer = await api.request('POST', '/v2/email', { key: other.key, body });
  expect(answer.status).toBe(201);
  for (const socket of held) socket.destroy();
  await nothingIsKept();
  expect((await post(large())).status).toBe(201);
});

// Shows F6
test('a client that goes away while it sends leaves nothing behind', async () => {
  const socket = await openRaw(headOf('/v2/email', 4_000_000) + padding.repeat(30));
  await waitFor('it is in a file', () => openFiles() === 1);
  socket.destroy();
  await nothingIsKept();
});

test('large bodies are dealt with one after the other, in their order, also after one that failed', async () => {
  const done: number[] = [];
  let inHand = 0;
  const turns = Array.from({ length: 5 }, (_, index) =>
    inTurn(30_000, async () => {
      inHand += 1;
      expect(inHand).toBe(1);
      await new Promise(setImmediate);
      inHand -= 1;
      done.push(index);
      if (index === 2) throw new Error('It failed');
    }).catch((error: Error) => error.message),
  );
  expect(await Promise.all(turns)).toEqual([true, true, 'It failed', true, true]);
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test('who does not get a turn in time is told so and does nothing', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = inTurn(1_000, () => held);
  let isDone = false;
  const late = await inTurn(20, async () => {
    isDone = true;
  });
  release();
  expect([await first, late, isDone]).toEqual([true, false, false]);
  expect(await inTurn(1_000, async () => {})).toBe(true);
});
