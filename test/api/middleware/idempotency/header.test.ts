import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { signRequest } from '../../../support/api/sign-request.ts';
import { hmacKey } from '../../../support/api/signed-key.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { parseRaw, sendRaw } from '../../endpoint/small-api.ts';
import { ask, codeOf } from './ask.ts';
import { startEffectsApi } from './effects-api.ts';

useDatabase();

let api: Client;
let effectsApi: Awaited<ReturnType<typeof startEffectsApi>>;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  effectsApi = await startEffectsApi();
  api = await startApi();
  own = await workspace();
});

const body = '{"name":"header"}';
const lines = (method: string, path: string, more: (string | Buffer)[]) =>
  Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.key}\r\n`),
    ...more.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\r\n')])),
    Buffer.from(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  ]);
const recordCount = async () =>
  Number((await query('SELECT COUNT(*) AS n FROM idempotency_records'))[0]!['n']);

const wrong: Record<string, (string | Buffer)[]> = {
  'an empty value': ['Idempotency-Key:'],
  'only spaces': ['Idempotency-Key:    '],
  'a space inside': ['Idempotency-Key: a b'],
  'a tab inside': ['Idempotency-Key: a\tb'],
  '256 characters': [`Idempotency-Key: ${'k'.repeat(256)}`],
  '5,000 characters': [`Idempotency-Key: ${'k'.repeat(5_000)}`],
  'a letter outside ASCII': ['Idempotency-Key: clé'],
  'a byte above ASCII': [Buffer.concat([Buffer.from('Idempotency-Key: a'), Buffer.from([0xff])])],
  'two lines': ['Idempotency-Key: a', 'Idempotency-Key: b'],
  'two equal lines': ['Idempotency-Key: a', 'Idempotency-Key: a'],
  'two lines in other cases': ['idempotency-key: a', 'IDEMPOTENCY-KEY: b'],
  'an empty line beside a good one': ['Idempotency-Key:', 'Idempotency-Key: a'],
};

// Shows A50
test.each(Object.keys(wrong))('an Idempotency-Key with %s is refused with 400', async (name) => {
  const made = await effectsApi.effects('header');
  for (const [method, path] of [
    ['POST', '/v2/effects'],
    ['PATCH', '/v2/effects/header'],
  ] as const) {
    const { status, json } = parseRaw(
      await sendRaw(effectsApi.port, lines(method, path, wrong[name] as string[])),
    );
    expect([status, json().type.split('/').at(-1)]).toEqual([400, 'idempotency_key_invalid']);
    expect(json().detail).toContain('Idempotency-Key');
    expect(json().detail.includes('more than once')).toBe((wrong[name] as unknown[]).length > 1);
  }
  expect(await effectsApi.effects('header')).toBe(made);
});

test('a wrong key is told before the body is read', async () => {
  const head = lines('POST', '/v2/effects', ['Idempotency-Key: a b'])
    .toString('latin1')
    .split(`${body.length}\r\n\r\n`)[0]!;
  const { status } = parseRaw(await sendRaw(effectsApi.port, `${head}100000\r\n\r\n{`));
  expect(status).toBe(400);
});

test.each([
  '!',
  '~',
  'k'.repeat(255),
  '"quoted"',
  'a,b',
  '8e03978e-40d5-43dd-bc93-6894a57f9324',
  '%C3%A9',
  '__proto__',
])('the Idempotency-Key %s is taken as it is', async (idempotencyKey) => {
  const question = { key: own.key, idempotencyKey, path: '/v2/effects', body: { name: 'taken' } };
  const first = await ask(effectsApi.url, question);
  expect([first.status, first.isReplayed]).toEqual([201, false]);
  expect((await ask(effectsApi.url, question)).isReplayed).toBe(true);
  const [row] = await query('SELECT COUNT(*) AS n FROM idempotency_records WHERE idempotency_key = ?', [
    Buffer.from(idempotencyKey),
  ]);
  expect(row!['n']).toBe(1);
});

test('GET and DELETE ignore the header, whatever it holds', async () => {
  const before = await recordCount();
  for (const idempotencyKey of ['good', 'a b', 'k'.repeat(300)]) {
    const question = { key: own.key, idempotencyKey };
    for (let again = 0; again < 2; again += 1) {
      const read = await ask(effectsApi.url, { ...question, method: 'GET', path: '/v2/effects/ignored' });
      expect([read.status, read.isReplayed]).toEqual([200, false]);
      const gone = await ask(effectsApi.url, { ...question, method: 'DELETE', path: '/v2/effects/ignored' });
      expect([gone.status, gone.isReplayed]).toEqual([204, false]);
    }
  }
  expect(await effectsApi.effects('ignored')).toBe(6);
  expect(await recordCount()).toBe(before);
});

test('a DELETE is not replayed: what is gone is gone', async () => {
  const hook = await ask(api.url, {
    key: own.key,
    path: '/v2/webhooks',
    body: { url: 'https://example.com/hook', events: ['email.sent'] },
  });
  const question = {
    key: own.key,
    idempotencyKey: 'gone',
    method: 'DELETE',
    path: `/v2/webhooks/${hook.json().id}`,
  };
  expect((await ask(api.url, question)).status).toBe(204);
  expect((await ask(api.url, question)).status).toBe(404);
});

// Shows A9
test('a key in strict mode needs the header on POST and PATCH, and nowhere else', async () => {
  const { key, signer } = await hmacKey(own.workspaceId, { strictMode: true });
  const send = (
    method: string,
    path: string,
    { body: sent, headers = {} }: { body?: string; headers?: Record<string, string> },
  ) => {
    const signed = signRequest({ method, url: api.url + path, headers, ...(sent && { body: sent }) }, signer);
    return ask(api.url, { key, method, path, headers: signed, ...(sent && { body: sent }) });
  };
  const text = JSON.stringify(newEmail(own, { clientReference: 'strict' }));
  const refused = await send('POST', '/v2/email', { body: text });
  expect([refused.status, codeOf(refused)]).toEqual([400, 'idempotency_key_required']);
  expect(refused.json().detail).toContain('Idempotency-Key');
  const empty = await send('POST', '/v2/email', { body: text, headers: { 'idempotency-key': '' } });
  expect([empty.status, codeOf(empty)]).toEqual([400, 'idempotency_key_invalid']);
  const listed = await send('GET', '/v2/email?clientReference=strict', {});
  expect([listed.status, listed.json().data]).toEqual([200, []]);

  const headers = { 'idempotency-key': 'strict-1' };
  const first = await send('POST', '/v2/email', { body: text, headers });
  expect([first.status, first.isReplayed]).toEqual([201, false]);
  const replay = await send('POST', '/v2/email', { body: text, headers });
  expect([replay.status, replay.isReplayed, replay.text]).toEqual([201, true, first.text]);
});

// Shows A9
test('a replay to a key in strict mode has to be signed like any request', async () => {
  const { key, signer } = await hmacKey(own.workspaceId, { strictMode: true });
  const text = JSON.stringify(newEmail(own));
  const plain = { 'idempotency-key': 'strict-2', 'content-type': 'application/json' };
  const headers = signRequest(
    { method: 'POST', url: `${api.url}/v2/email`, body: text, headers: plain },
    signer,
  );
  expect((await ask(api.url, { key, body: text, headers })).status).toBe(201);
  const unsigned = await ask(api.url, { key, body: text, headers: plain });
  expect([unsigned.status, codeOf(unsigned)]).toEqual([401, 'signature_required']);
  const forged = await ask(api.url, { key, body: `${text} `, headers });
  expect([forged.status, codeOf(forged)]).toEqual([401, 'signature_invalid']);
});
