import { beforeAll, beforeEach, expect, test } from 'vitest';
import { config } from '../../../../shared/config/config.ts';
import { hmacKey, type SignedKey } from '../../../support/api/signed-key.ts';
import { startApi } from '../../../support/api/start-api.ts';
import { forgetRedis, useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { parseRaw, sendRaw } from '../../endpoint/small-api.ts';
import {
  expectAccepted,
  expectRefused,
  headerOf,
  type Sent,
  send,
  signedGet,
  signedPost,
  useSignedApi,
  withHeaders,
} from './signed-api.ts';

useDatabase();
const world = useSignedApi();

const {
  RATE_LIMIT_PER_SECOND,
  WORKSPACE_RATE_LIMIT_PER_SECOND,
  RATE_LIMIT_WAIT_SECONDS,
  AUTH_FAILURES_PER_MINUTE,
} = config;
beforeEach(async () => {
  changeSettings({
    RATE_LIMIT_PER_SECOND,
    WORKSPACE_RATE_LIMIT_PER_SECOND,
    RATE_LIMIT_WAIT_SECONDS,
    AUTH_FAILURES_PER_MINUTE,
    PUBLIC_URL: world.api.url,
  });
  await forgetRedis();
});

let lenient: SignedKey;
beforeAll(async () => {
  lenient = await hmacKey(world.own.workspaceId, { strictMode: false });
});

const unsigned = (sent: Sent) => withHeaders(sent, { signature: undefined, 'signature-input': undefined });
const forged = { signWith: () => Buffer.alloc(32) };

async function expectRequired(sent: Sent) {
  const answer = await send(world.api, sent);
  expect([answer.status, answer.body.type]).toEqual([401, `${world.api.url}/problems/signature_required`]);
}

// Shows A9
test('with a strict key every request must be signed, whatever its method', async () => {
  for (const sent of [signedGet(world, world.hmac), signedPost(world, world.ecdsa)]) {
    await expectRequired(unsigned(sent));
    expectAccepted(await send(world.api, sent));
  }
});

test('a signed GET needs no Idempotency-Key in strict mode', async () => {
  const sent = signedGet(world, world.hmac);
  expect(headerOf(sent, 'idempotency-key')).toBe('');
  expectAccepted(await send(world.api, sent));
});

test('without strict mode a request needs no signature', async () => {
  expectAccepted(await send(world.api, unsigned(signedGet(world, lenient))));
  expectAccepted(await send(world.api, unsigned(signedPost(world, lenient))));
});

test('without strict mode a signature that is sent must be good all the same', async () => {
  const mismatch = 'does not match the request';
  expectRefused(await send(world.api, signedGet(world, lenient, forged)), mismatch);
  expectRefused(await send(world.api, signedPost(world, lenient, forged)), mismatch);
  const sent = signedPost(world, lenient);
  const halves = [
    withHeaders(sent, { signature: undefined }),
    withHeaders(sent, { 'signature-input': undefined }),
  ];
  for (const half of halves) expectRefused(await send(world.api, half), 'must both be sent');
  const emptied = withHeaders(sent, { signature: '', 'signature-input': '' });
  expectRefused(await send(world.api, emptied), 'No signature has the id');
  expectRefused(await send(world.api, { ...sent, body: `${sent.body} ` }), 'Content-Digest does not match');
  expectAccepted(await send(world.api, sent));
});

test('with a key that has no signing set, signatures are not looked at', async () => {
  const plain = { key: world.own.key, signer: world.hmac.signer };
  expectAccepted(await send(world.api, signedGet(world, plain, forged)));
  expectAccepted(await send(world.api, withHeaders(signedGet(world, plain), { signature: 'junk!' })));
});

test('a request is refused by its headers, before its body is there', async () => {
  const port = Number(new URL(world.api.url).port);
  const answerTo = async ({ headers }: Sent) => {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    // The body never comes.
    const head = `POST /v2/email HTTP/1.1\r\nhost: a\r\n${lines}content-length: 1000\r\n\r\n`;
    const answer = parseRaw(await sendRaw(port, head));
    return { status: answer.status, body: answer.json() };
  };
  expect((await answerTo(unsigned(signedPost(world, world.hmac)))).status).toBe(401);
  expectRefused(await answerTo(signedPost(world, world.hmac, forged)), 'does not match the request');
  const stale = { parameters: { created: 1 } };
  expectRefused(
    await answerTo(signedPost(world, world.ecdsa, stale)),
    'created is more than 300 seconds ago',
  );
});

// Shows A13
test('a refusal never says what would have been right', async () => {
  const good = signedPost(world, world.hmac);
  const { body } = await send(world.api, signedPost(world, world.hmac, forged));
  const text = JSON.stringify(body);
  const [, value] = /:(.+):/.exec(headerOf(good, 'signature'))!;
  for (const secret of [
    world.hmac.signer.secret,
    world.hmac.signer.keyId,
    value!,
    new URL(world.api.url).host,
  ])
    expect(text.replace(body.type, '')).not.toContain(secret);
});

test('whether the key may do it, and whether it exists, is said before the signature is looked at', async () => {
  const reader = await hmacKey(world.own.workspaceId, { scopes: ['email.read'] });
  expect((await send(world.api, signedPost(world, reader, forged))).status).toBe(403);
  const { key } = world.hmac;
  const unknown = { key: key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'), signer: world.hmac.signer };
  const answer = await send(world.api, signedGet(world, unknown));
  expect(answer.body.type).toBe(`${world.api.url}/problems/unauthenticated`);
  expectAccepted(await send(world.api, signedGet(world, reader)));
});

test('requests without a good signature use up neither the limits of the key nor its workspace', async () => {
  // So low that a slow machine refills nothing during the test.
  changeSettings({ RATE_LIMIT_PER_SECOND: 0.02, WORKSPACE_RATE_LIMIT_PER_SECOND: 0.02 });
  const api = await startApi();
  const limited = { api, own: world.own };
  const { hmac } = world;
  for (let count = 0; count < 6; count += 1) {
    const sent = signedGet(limited, hmac, count % 2 === 0 ? {} : forged);
    const { status } = await send(api, count % 2 === 0 ? unsigned(sent) : sent);
    expect(status).toBe(401);
  }
  const first = signedGet(limited, hmac);
  expect((await send(api, first)).status).toBe(200);
});

test('a missing signature counts as a failed authentication of its address', async () => {
  changeSettings({ AUTH_FAILURES_PER_MINUTE: 3, RATE_LIMIT_WAIT_SECONDS: 30 });
  const api = await startApi();
  const statuses = [];
  for (let count = 0; count < 4; count += 1)
    statuses.push((await send(api, unsigned(signedGet({ api }, world.hmac)))).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
});
