import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf, type SignatureOptions } from '../../../support/api/sign-request.ts';
import type { SignedKey } from '../../../support/api/signed-key.ts';
import { useDatabase } from '../../../support/database/database.ts';
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

const post = (key: SignedKey, options?: SignatureOptions) => signedPost(world, key, options);
const get = (key: SignedKey, options?: SignatureOptions) => signedGet(world, key, options);
const expectGood = async (sent: Sent) => expectAccepted(await send(world.api, sent));
const expectBad = async (sent: Sent, detail: string | RegExp) =>
  expectRefused(await send(world.api, sent), detail);

const always = ['@method', '@authority', '@path', '@query'];
const all = [...always, 'content-digest', 'content-type', 'idempotency-key'];
const mismatch = 'The signature does not match the request';

describe.each(['hmac', 'ecdsa'] as const)('with a key that signs by %s', (name) => {
  // Shows A10
  test.each(all)('a POST whose signature does not cover "%s" is refused', async (component) => {
    const covered = all.filter((each) => each !== component);
    await expectBad(post(world.keys[name], { covered }), `does not cover "${component}"`);
    await expectGood(post(world.keys[name], { covered: all }));
  });

  test.each(always)('a GET whose signature does not cover "%s" is refused', async (component) => {
    const covered = always.filter((each) => each !== component);
    await expectBad(get(world.keys[name], { covered }), `does not cover "${component}"`);
    await expectGood(get(world.keys[name], { covered: always }));
  });

  test.each([
    ['@method', 'PUT'],
    ['@authority', 'other.example'],
    ['@path', '/v2/emails'],
    ['@query', '?a=1'],
    ['content-digest', digestOf('{}')],
    ['content-type', 'application/json; charset=utf-8'],
    ['idempotency-key', 'another'],
  ])('a POST that was signed with another "%s" is refused', async (component, value) => {
    await expectBad(post(world.keys[name], { values: { [component]: value } }), mismatch);
    await expectGood(post(world.keys[name], { values: {} }));
  });

  test.each<[string, (sent: Sent) => Sent, string]>([
    ['another query', (sent) => ({ ...sent, target: `${sent.target}?a=1` }), mismatch],
    [
      'another body',
      (sent) => ({ ...sent, body: `${sent.body} ` }),
      'Content-Digest does not match the body',
    ],
    ['no body', (sent) => ({ ...sent, body: '' }), 'Content-Digest does not match the body'],
    [
      'another body and the digest of it',
      (sent) => {
        const body = sent.body.replace('A subject', 'B subject');
        return { ...withHeaders(sent, { 'content-digest': digestOf(body) }), body };
      },
      mismatch,
    ],
    [
      'another type',
      (sent) => withHeaders(sent, { 'content-type': 'application/json;charset=utf-8' }),
      mismatch,
    ],
    ['another Idempotency-Key', (sent) => withHeaders(sent, { 'idempotency-key': 'another' }), mismatch],
    [
      'no Idempotency-Key',
      (sent) => withHeaders(sent, { 'idempotency-key': undefined }),
      'covers "idempotency-key", which the request does not have',
    ],
    [
      'no Content-Digest',
      (sent) => withHeaders(sent, { 'content-digest': undefined }),
      'covers "content-digest", which the request does not have',
    ],
    ['two lines of Content-Type', (sent) => doubled(sent, 'content-type'), mismatch],
    ['two lines of Content-Digest', (sent) => doubled(sent, 'content-digest'), mismatch],
    ['two lines of Idempotency-Key', (sent) => doubled(sent, 'idempotency-key'), mismatch],
  ])('a POST that arrives with %s is refused', async (_what, change, detail) => {
    const sent = post(world.keys[name]);
    await expectBad(change(sent), detail);
    await expectGood(sent);
  });

  test('a request that is sent to another path is refused', async () => {
    const sent = get(world.keys[name]);
    await expectBad({ ...sent, target: sent.target.replace('/v2/email', '/v2/webhooks') }, mismatch);
    await expectGood(sent);
  });
});

function doubled(sent: Sent, name: string): Sent {
  return { ...sent, headers: [...sent.headers, [name, headerOf(sent, name)]] };
}

test('a digest that is right but not covered proves nothing', async () => {
  const covered = all.filter((name) => name !== 'content-digest');
  const sent = post(world.hmac, { covered });
  expect(headerOf(sent, 'content-digest')).toBe(digestOf(sent.body));
  await expectBad(sent, 'does not cover "content-digest"');
  await expectGood(post(world.hmac));
});

const sha512 = (body: string) => `sha-512=:${hash('sha512', body, 'base64')}:`;

// Shows A10
test('every digest that is known must match; one that is not known neither helps nor harms', async () => {
  const digested = (digest: (body: string) => string) => {
    const { body } = post(world.hmac);
    return signedPost(world, world.hmac, {}, { headers: { 'content-digest': digest(body) } });
  };
  const wrong = 'Content-Digest does not match the body';
  await expectGood(digested(sha512));
  await expectGood(digested((body) => `${digestOf(body)}, ${sha512(body)}`));
  await expectGood(digested((body) => `md5=:AAAA:, ${digestOf(body)}`));
  await expectBad(
    digested((body) => `${digestOf(body)}, ${sha512(`${body} `)}`),
    wrong,
  );
  await expectBad(
    digested((body) => `${digestOf(`${body} `)}, ${sha512(body)}`),
    wrong,
  );
  await expectBad(
    digested(() => 'md5=:AAAA:'),
    wrong,
  );
  await expectBad(
    digested(() => 'junk!'),
    wrong,
  );
});

test('a request without a body needs no digest, but one that it carries must be right', async () => {
  const sent = (digest: string, covered?: string[]) =>
    signedGet(world, world.hmac, covered ? { covered } : {}, { headers: { 'content-digest': digest } });
  await expectGood(sent(digestOf('')));
  await expectGood(sent(digestOf(''), always));
  await expectBad(sent(digestOf('{}')), 'Content-Digest does not match the body');
  await expectBad(sent(digestOf('{}'), always), 'Content-Digest does not match the body');
});

// Shows A46
test('a body that is put into a signed request without one is refused', async () => {
  const sent = get(world.hmac);
  const body = '{"a":1}';
  const filled = { ...withHeaders(sent, { 'content-type': 'application/json' }), body };
  await expectBad(filled, 'does not cover "content-digest", "content-type"');
  await expectGood(sent);
});

test('an Idempotency-Key that is put into a request signed without one is refused, whatever the method', async () => {
  const sent = get(world.hmac);
  await expectBad(withHeaders(sent, { 'idempotency-key': 'added' }), 'does not cover "idempotency-key"');
  await expectGood(sent);
});

test('another header may be covered, and is then protected like the rest', async () => {
  const headers = { 'x-batch': '7', 'x-empty': '', authorization: `Bearer ${world.hmac.key}` };
  const covered = [...all, 'authorization', 'x-batch', 'x-empty'];
  const sent = signedPost(world, world.hmac, { covered }, { headers });
  await expectBad(withHeaders(sent, { 'x-batch': '8' }), mismatch);
  await expectBad(withHeaders(sent, { 'x-empty': 'x' }), mismatch);
  await expectBad(
    withHeaders(sent, { 'x-batch': undefined }),
    'covers "x-batch", which the request does not have',
  );
  await expectGood(sent);
});

test('a header on several lines is covered as one, its values joined by commas', async () => {
  const covered = [...always, 'x-part'];
  const sent = get(world.hmac, { covered, values: { 'x-part': 'one, two' } });
  const lines = (...values: string[]): Sent => ({
    ...sent,
    headers: [...sent.headers, ...values.map((value): [string, string] => ['X-Part', `  ${value}\t `])],
  });
  await expectBad(lines('two', 'one'), mismatch);
  await expectBad(lines('one'), mismatch);
  await expectGood(lines('one', 'two'));
});

// Shows A10
test('any byte that is changed in a covered part is noticed', async () => {
  const parts = [
    'content-digest',
    'content-type',
    'idempotency-key',
    'signature-input',
    'query',
    'body',
  ] as const;
  const headers = { 'idempotency-key': '' };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('hmac', 'ecdsa'),
      fc.constantFrom(...parts),
      fc.nat(),
      fc.integer({ min: 0x21, max: 0x7e }),
      fc.uuid(),
      async (name, part, place, code, key) => {
        headers['idempotency-key'] = key;
        const sent = signedPost(
          world,
          world.keys[name as 'hmac'],
          {},
          { headers, target: '/v2/email?a=b&c=%20d' },
        );
        const text =
          part === 'query' ? sent.target.slice(10) : part === 'body' ? sent.body : headerOf(sent, part);
        const at = place % text.length;
        const character = String.fromCharCode(code);
        fc.pre(text[at] !== character);
        const altered = text.slice(0, at) + character + text.slice(at + 1);
        if (part === 'query') await expectBad({ ...sent, target: `/v2/email?${altered}` }, '');
        else if (part === 'body') await expectBad({ ...sent, body: altered }, '');
        else await expectBad(withHeaders(sent, { [part]: altered }), '');
      },
    ),
    { numRuns: 80 },
  );
});
