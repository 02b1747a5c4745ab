import { randomUUID } from 'node:crypto';
import { createSigner, createVerifier, httpbis } from 'http-message-signatures';
import { expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { digestOf, signRequest } from '../../../support/api/sign-request.ts';
import type { SignedKey, Signer } from '../../../support/api/signed-key.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import {
  expectAccepted,
  expectAdmitted,
  expectRefused,
  type Sent,
  send,
  signedGet,
  useSignedApi,
  withBoth,
} from './signed-api.ts';

// An independent library is the client here. It also checks the client that the other tests use.
useDatabase();
const world = useSignedApi();

const algorithm = (signer: Signer) =>
  signer.algorithm === 'hmac_sha256' ? ('hmac-sha256' as const) : ('ecdsa-p256-sha256' as const);
const secretOf = (signer: Signer) => (signer.algorithm === 'hmac_sha256' ? signer.secret : signer.privateKey);

const always = ['@method', '@authority', '@path', '@query'];

async function signedByLibrary(
  { key, signer }: SignedKey,
  method: string,
  target: string,
  body: string,
  changes: Partial<Parameters<typeof httpbis.signMessage>[0]> = {},
): Promise<Sent> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${key}`,
    ...(body === ''
      ? {}
      : {
          'content-type': 'application/json',
          'content-digest': digestOf(body),
          'idempotency-key': randomUUID(),
        }),
  };
  const { headers: signed } = await httpbis.signMessage(
    {
      key: createSigner(secretOf(signer) as string, algorithm(signer), signer.keyId),
      name: 'library',
      params: ['keyid', 'alg', 'created', 'expires', 'nonce', 'tag'],
      paramValues: { created: now(), nonce: randomUUID(), tag: 'library' },
      fields: [...always, ...Object.keys(headers)],
      ...changes,
    },
    { method, url: world.api.url + target, headers },
  );
  return {
    method,
    target,
    headers: Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]),
    body,
  };
}

test.each(['hmac', 'ecdsa'] as const)(
  'what it signs by %s is accepted, and nothing that was altered',
  async (name) => {
    const key = world.keys[name];
    const body = JSON.stringify(newEmail(world.own));
    for (const target of ['/v2/email', '/v2/email?', '/v2/email?a=%20b+c', '/v2/email?%C3%A9=1']) {
      const get = await signedByLibrary(key, 'GET', target, '');
      expectRefused(await send(world.api, { ...get, target: '/v2/email?b' }), 'does not match the request');
      expectAdmitted(await send(world.api, get));
    }
    const post = await signedByLibrary(key, 'POST', '/v2/email', body);
    expectRefused(await send(world.api, { ...post, body: `${body} ` }), 'Content-Digest does not match');
    expectAccepted(await send(world.api, post));
  },
);

test('what it signs with its own defaults is refused where it covers too little', async () => {
  const sent = await signedByLibrary(world.hmac, 'GET', '/v2/email', '', { fields: [] });
  expectRefused(await send(world.api, sent), 'does not cover "@method", "@authority", "@path", "@query"');
  const timeless = await signedByLibrary(world.hmac, 'GET', '/v2/email', '', {
    paramValues: { created: null },
  });
  expectRefused(await send(world.api, timeless), 'created must be an integer');
});

test('its signature may stand beside ours, under whichever label', async () => {
  const other = { ...world.hmac, signer: { ...world.hmac.signer, keyId: 'elsewhere' } };
  const its = await signedByLibrary(other, 'GET', '/v2/email?limit=1', '');
  expectAccepted(await send(world.api, withBoth(signedGet(world, world.hmac), its)));
  expectAccepted(await send(world.api, withBoth(its, signedGet(world, world.hmac))));
});

test.each(['hmac', 'ecdsa'] as const)(
  'it verifies what the client of these tests signs by %s',
  async (name) => {
    const { signer } = world.keys[name];
    const verifying = signer.algorithm === 'hmac_sha256' ? signer.secret : world.ecdsa.publicPem;
    const isGood = async (message: Parameters<typeof httpbis.verifyMessage>[1]) => {
      const config = {
        keyLookup: async () => ({ id: signer.keyId, verify: createVerifier(verifying, algorithm(signer)) }),
        requiredFields: always,
        requiredParams: ['created', 'keyid'],
        notAfter: Math.floor(now().getTime() / 1000) + 60,
      };
      return (await httpbis.verifyMessage(config, message).catch(() => false)) === true;
    };
    const body = '{"a":1}';
    for (const target of ['/v2/email', '/v2/email?', '/v2/email?a=%20b+c']) {
      const request = { method: 'POST', url: `https://API.example.com:443${target}`, body };
      const headers = signRequest({ ...request, headers: { 'idempotency-key': 'k' } }, signer);
      expect(await isGood({ ...request, headers })).toBe(true);
      expect(await isGood({ ...request, method: 'PUT', headers })).toBe(false);
      expect(await isGood({ ...request, headers: { ...headers, 'idempotency-key': 'l' } })).toBe(false);
    }
  },
);
