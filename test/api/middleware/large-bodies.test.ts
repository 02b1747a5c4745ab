import { hash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { mostValues } from '../../../api/middleware/json-scan.ts';
import { fileBudget } from '../../../api/middleware/large-body.ts';
import { query } from '../../../shared/db/client.ts';
import { digestOf, signRequest } from '../../support/api/sign-request.ts';
import { hmacKey } from '../../support/api/signed-key.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { headOf, openRaw } from './raw-uploads.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
const budgetBytes = 100 * 1024 * 1024;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});
beforeEach(() => changeSettings({ LARGE_BODIES_BYTES: budgetBytes }));

const content = randomBytes(1_200_000).toString('base64');
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

/** Counts the body files that are deleted but still open in this process. */
const openFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /messaging-body.*\(deleted\)$/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
const nothingIsKept = () =>
  waitFor('no large body is kept', () => fileBudget.takenBytes() === 0 && openFiles() === 0);

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
  ['50,001 values', () => `${start()},"x":[${'0,'.repeat(mostValues)}0]}`, 'payload_too_large'],
  ['nearly as many values as it may have', () => `${start()},"x":[${'0,'.repeat(49_900)}0]}`, undefined],
  [
    '20,001 values of free form',
    () => large({ template: { data: { x: Array(20_000).fill(0) } } }),
    'validation_failed',
  ],
  ['a text of 12 MB that is for no field', () => `${start()},"x":"${padding.repeat(190)}"}`, undefined],
  ['a text of 12 MB for a field', () => large({ subject: padding.repeat(190) }), 'validation_failed'],
  [
    '8 MiB of short texts',
    () => `${start()},"x":[${`"${'x'.repeat(1_000)}",`.repeat(8_500)}0]}`,
    'payload_too_large',
  ],
])('a large body with %s is answered as a small one would be', async (_name, body, code) => {
  const answer = await post(body());
  expect(codeOf(answer)).toBe(code);
  expect(answer.status).toBe(code === undefined ? 201 : code === 'payload_too_large' ? 413 : 400);
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

// Shows F6
test('a client that goes away while it sends leaves nothing behind', async () => {
  const socket = await openRaw(api.url, headOf(own, '/v2/email', 4_000_000) + padding.repeat(30));
  await waitFor('it is in a file', () => openFiles() === 1);
  socket.destroy();
  await nothingIsKept();
});
