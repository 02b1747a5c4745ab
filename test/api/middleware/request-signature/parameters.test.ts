import { expect, test } from 'vitest';
import { nowSeconds } from '../../../support/api/sign-request.ts';
import { useDatabase } from '../../../support/database/database.ts';
import {
  expectAccepted,
  expectRefused,
  send,
  signedGet,
  signedPost,
  useSignedApi,
  withinOneSecond,
} from './signed-api.ts';

useDatabase();
const world = useSignedApi();

type Parameters = Record<string, string | number | null>;
const answerTo = (parameters: Parameters, name: 'hmac' | 'ecdsa' = 'hmac') =>
  send(world.api, signedPost(world, world.keys[name], { parameters }));

// Shows A10
test('a signature is good from 60 seconds before its time to 300 seconds after it', async () => {
  const offsets = [-1e9, -302, -301, -300, -299, 0, 59, 60, 61, 62, 1e9];
  const answers = await withinOneSecond((second) =>
    Promise.all(offsets.map((offset) => answerTo({ created: second + offset }))),
  );
  for (const answer of answers.slice(0, 3)) expectRefused(answer, 'created is more than 300 seconds ago');
  for (const answer of answers.slice(3, 8)) expectAccepted(answer);
  for (const answer of answers.slice(8)) expectRefused(answer, 'created is more than 60 seconds ahead');
});

test('a signature is refused from the second at which it expires', async () => {
  const [passed, now, later, last] = await withinOneSecond((second) =>
    Promise.all(
      [-1, 0, 1, 1e9].map((offset) => answerTo({ created: second - 100, expires: second + offset })),
    ),
  );
  expectRefused(passed!, 'expires has passed');
  expectRefused(now!, 'expires has passed');
  expectAccepted(later!);
  expectAccepted(last!);
});

test.each<[string, Parameters, string]>([
  ['no created', { created: null }, 'created must be an integer'],
  ['created as a string', { created: '"1795168800"' }, 'created must be an integer'],
  ['created without a value', { created: '?1' }, 'created must be an integer|canonical form'],
  ['created as a date', { created: '@1795168800' }, 'created must be an integer'],
  ['created with a fraction', { created: '1795168800.5' }, 'created must be an integer'],
  ['created with a fraction of nothing', { created: '1795168800.0' }, 'canonical form'],
  ['created with a sign', { created: '-1795168800' }, 'seconds ago'],
  ['created with leading zeros', { created: '0001795168800' }, 'canonical form'],
  ['expires as a string', { expires: '"9999999999"' }, 'expires must be an integer'],
  ['expires with a fraction', { expires: '9999999999.5' }, 'expires must be an integer'],
  ['expires before created', { expires: 1 }, 'expires must be an integer greater than created'],
  ['no keyid', { keyid: null }, 'No signature has the id of this API key'],
  ['an empty keyid', { keyid: '""' }, 'No signature has the id of this API key'],
  [
    'keyid as a token',
    { keyid: 'key_01h455vb4pex5vsknk084sn02q' },
    'No signature has the id of this API key',
  ],
  ['another algorithm', { alg: '"ecdsa-p256-sha256"' }, 'alg is not the algorithm of this API key'],
  ['an algorithm that is none', { alg: '"none"' }, 'alg is not the algorithm of this API key'],
  ['an algorithm in capitals', { alg: '"HMAC-SHA256"' }, 'alg is not the algorithm of this API key'],
  ['an empty algorithm', { alg: '""' }, 'alg is not the algorithm of this API key'],
  ['alg as a token', { alg: 'hmac-sha256' }, 'alg is not the algorithm of this API key'],
  ['tag as a number', { tag: 7 }, 'tag must be a string'],
  ['an empty nonce', { nonce: '""' }, 'nonce must be a string of 1 to 64'],
  ['a nonce of 65 characters', { nonce: `"${'n'.repeat(65)}"` }, 'nonce must be a string of 1 to 64'],
  ['a nonce with a space', { nonce: '"a b"' }, 'nonce must be a string of 1 to 64'],
  ['nonce as bytes', { nonce: ':AAAA:' }, 'nonce must be a string of 1 to 64'],
  ['nonce as a number', { nonce: 7 }, 'nonce must be a string of 1 to 64'],
])('%s is refused', async (_what, parameters, detail) => {
  expectRefused(await answerTo(parameters), new RegExp(detail));
  expectAccepted(await answerTo({}));
});

test('the algorithm may be named, as the one that the key has', async () => {
  expectAccepted(await answerTo({ alg: '"hmac-sha256"' }, 'hmac'));
  expectAccepted(await answerTo({ alg: '"ecdsa-p256-sha256"' }, 'ecdsa'));
  expectRefused(await answerTo({ alg: '"hmac-sha256"' }, 'ecdsa'), 'alg is not the algorithm');
  expectRefused(await answerTo({ alg: '"ecdsa-p384-sha384"' }, 'ecdsa'), 'alg is not the algorithm');
});

test('expires, nonce, tag and parameters of the sender’s own are allowed, in any order', async () => {
  const created = nowSeconds();
  const answer = await answerTo({
    tag: '"a \\"tag\\" of, the; sender\\\\"',
    'x-own': ':AAEC:',
    flag: '?0',
    nonce: `"${'~'.repeat(64)}"`,
    expires: created + 1000,
    keyid: `"${world.hmac.signer.keyId}"`,
    created,
  });
  expectAccepted(answer);
});

test('a parameter that is changed or taken away after signing makes the signature a bad one', async () => {
  const sent = signedGet(world, world.hmac, { parameters: { nonce: '"n1"', tag: '"a"' } });
  const altered = (change: (input: string) => string) => ({
    ...sent,
    headers: sent.headers.map(([name, value]): [string, string] => [
      name,
      name === 'signature-input' ? change(value) : value,
    ]),
  });
  const mismatch = 'does not match the request';
  const refused = async (change: (input: string) => string) => {
    const other = altered(change);
    expect(other).not.toEqual(sent);
    expectRefused(await send(world.api, other), mismatch);
  };
  await refused((input) =>
    input.replace(/created=(\d+)/, (_all, created) => `created=${Number(created) + 1}`),
  );
  await refused((input) => input.replace(';nonce="n1"', ''));
  await refused((input) => input.replace('"n1"', '"n2"'));
  await refused((input) => input.replace(';nonce="n1";tag="a"', ';tag="a";nonce="n1"'));
  await refused((input) => `${input};alg="hmac-sha256"`);
  await refused((input) => input.replace('"@method" "@authority"', '"@authority" "@method"'));
  expectAccepted(await send(world.api, sent));
});
