import { createHmac, createPublicKey, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import type { Signer } from '../../../support/api/signed-key.ts';
import { ecdsaKey, hmacKey, newSecret } from '../../../support/api/signed-key.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClockTo } from '../../../support/time/advance-clock.ts';
import { expectAccepted, expectRefused, send, signedGet, useSignedApi } from './signed-api.ts';

useDatabase();
const world = useSignedApi();

const mismatch = 'does not match the request';

test('the secret before the current one is good until its time is over', async () => {
  const until = new Date(now().getTime() + 24 * 3_600_000);
  const secret = newSecret();
  const { key, signer } = await hmacKey(world.own.workspaceId, { previous: { secret, until } });
  const answerTo = (by: Signer) => send(world.api, signedGet(world, { key, signer: by }));
  const previous = { ...signer, secret };
  const older = { ...signer, secret: newSecret() };
  expectAccepted(await answerTo(previous));
  expectAccepted(await answerTo(signer));
  expectRefused(await answerTo(older), mismatch);
  await advanceClockTo(new Date(until.getTime() - 60_000));
  expectAccepted(await answerTo(previous));
  await advanceClockTo(until);
  expectRefused(await answerTo(previous), mismatch);
  expectAccepted(await answerTo(signer));
});

test('the secret is used whole, with its prefix', async () => {
  const { key, signer } = world.hmac;
  const raw = Buffer.from(signer.secret.slice(4), 'base64url');
  for (const secret of [raw, signer.secret.slice(4)]) {
    const signWith = (base: string) => createHmac('sha256', secret).update(base).digest();
    expectRefused(await send(world.api, signedGet(world, { key, signer }, { signWith })), mismatch);
  }
  expectAccepted(await send(world.api, signedGet(world, { key, signer })));
});

// Shows A12
test('the public key of a key with ECDSA is no secret of HMAC', async () => {
  const ecdsa = await ecdsaKey(world.own.workspaceId);
  const der = createPublicKey(ecdsa.publicPem).export({ type: 'spki', format: 'der' });
  const secrets = [ecdsa.publicPem, ecdsa.publicPem.trim(), der, '', 'undefined', 'null'];
  for (const alg of [undefined, '"hmac-sha256"', '"ecdsa-p256-sha256"'])
    for (const secret of secrets) {
      const signWith = (base: string) => createHmac('sha256', secret).update(base).digest();
      const parameters: Record<string, string> = alg ? { alg } : {};
      const answer = await send(world.api, signedGet(world, ecdsa, { signWith, parameters }));
      expectRefused(answer, alg === '"hmac-sha256"' ? 'alg is not the algorithm' : mismatch);
    }
  expectAccepted(await send(world.api, signedGet(world, ecdsa)));
});

// Shows A12
test('a signature by ECDSA is no signature for a key with HMAC', async () => {
  const { privateKey } = world.ecdsa.signer;
  const signWith = (base: string) =>
    sign('sha256', Buffer.from(base), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  expectRefused(await send(world.api, signedGet(world, world.hmac, { signWith })), mismatch);
  expectAccepted(await send(world.api, signedGet(world, world.hmac)));
});

test('ECDSA is r and s, 32 bytes each: another form of the same signature is refused', async () => {
  const { privateKey } = world.ecdsa.signer;
  const raw = (base: string) =>
    sign('sha256', Buffer.from(base), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const der = (base: string) => sign('sha256', Buffer.from(base), { key: privateKey, dsaEncoding: 'der' });
  const forms: ((base: string) => Buffer)[] = [
    der,
    (base) => Buffer.concat([der(base), Buffer.alloc(64)]).subarray(0, 64),
    (base) => raw(base).subarray(0, 63),
    (base) => Buffer.concat([raw(base), Buffer.of(0)]),
    (base) => Buffer.concat([raw(base).subarray(32), raw(base).subarray(0, 32)]),
    () => Buffer.alloc(64),
    () => Buffer.alloc(64, 0xff),
    () => Buffer.alloc(0),
    (base) => sign('sha512', Buffer.from(base), { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  ];
  for (const signWith of forms)
    expectRefused(await send(world.api, signedGet(world, world.ecdsa, { signWith })), mismatch);
  expectAccepted(await send(world.api, signedGet(world, world.ecdsa, { signWith: raw })));
});

// Shows A10
test('a signature is good for the key that the request is sent with, and no other', async () => {
  const other = await hmacKey(world.own.workspaceId);
  const sent = signedGet(world, other);
  const headers = sent.headers.map(([name, value]): [string, string] => [
    name,
    name === 'authorization' ? `Bearer ${world.hmac.key}` : value,
  ]);
  expectRefused(await send(world.api, { ...sent, headers }), 'No signature has the id of this API key');
  expect(headers).not.toEqual(sent.headers);
  expectAccepted(await send(world.api, sent));
});
