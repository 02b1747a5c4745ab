// @slow: it starts processes or servers of its own.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import * as retention from '../../../../shared/domain/operations/retention.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { nowSeconds } from '../../../support/api/sign-request.ts';
import { hmacKey, type SignedKey } from '../../../support/api/signed-key.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { type PlatformProcess, startWeb } from '../../../support/processes/processes.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { expectAccepted, expectRefused, send, signedGet, signedPost, useSignedApi } from './signed-api.ts';

useDatabase();
const world = useSignedApi();

let second: PlatformProcess & { url: string };
beforeAll(async () => {
  // Both processes have the same public address, as two processes of one service do.
  second = await startWeb({ PUBLIC_URL: world.api.url });
});

const usedBefore = 'The nonce was used before';
const by = (key: SignedKey, nonce: string, parameters = {}) =>
  signedPost(world, key, { parameters: { nonce: `"${nonce}"`, ...parameters } });

const nonceRows = ({ signer }: SignedKey) =>
  query<{ nonce_hash: Buffer; expires_at: Date }[]>(
    'SELECT nonce_hash, expires_at FROM request_nonces WHERE key_id = ?',
    [idToBytes(signer.keyId)],
  );

// Shows A10
test('a nonce is good once, for whatever request', async () => {
  const first = by(world.hmac, 'once');
  expectAccepted(await send(world.api, first));
  expectRefused(await send(world.api, first), usedBefore);
  expectRefused(await send(world.api, by(world.hmac, 'once')), usedBefore);
  expectRefused(
    await send(world.api, signedGet(world, world.hmac, { parameters: { nonce: '"once"' } })),
    usedBefore,
  );
  expectAccepted(await send(world.api, by(world.hmac, 'Once')));
});

test('the same nonce is good once for each key', async () => {
  const other = await hmacKey(world.own.workspaceId);
  for (const key of [world.hmac, world.ecdsa, other]) {
    expectAccepted(await send(world.api, by(key, 'shared')));
    expectRefused(await send(world.api, by(key, 'shared')), usedBefore);
  }
});

test('without a nonce the same bytes may come again', async () => {
  const sent = signedGet(world, world.hmac);
  expectAccepted(await send(world.api, sent));
  expectAccepted(await send(world.api, sent));
});

test('of two processes that get the same nonce at the same time, one accepts it', async () => {
  // Another test may have moved the clock forward; the second process follows a moment later.
  await waitFor('the second process to have the time of this one', async () => {
    const { status } = await send({ url: second.url }, by(world.hmac, randomUUID()));
    return status === 201;
  });
  for (let round = 0; round < 10; round += 1) {
    const sent = Array.from({ length: 3 }, () => by(world.hmac, `race-${round}`));
    const answers = await Promise.all(
      sent.flatMap((each) => [send(world.api, each), send({ url: second.url }, each)]),
    );
    const [accepted, refused] = [201, 401].map((status) => answers.filter((one) => one.status === status));
    expect([accepted!.length, refused!.length]).toEqual([1, 5]);
    for (const answer of refused!) expectRefused(answer, usedBefore);
  }
});

test('only a request that is let in uses up its nonce', async () => {
  const key = await hmacKey(world.own.workspaceId);
  const sent = by(key, 'kept');
  const forged = signedPost(world, key, {
    parameters: { nonce: '"kept"' },
    signWith: () => Buffer.alloc(32),
  });
  expectRefused(await send(world.api, forged), 'does not match the request');
  expectRefused(await send(world.api, { ...sent, body: `${sent.body} ` }), 'Content-Digest does not match');
  expect(await nonceRows(key)).toEqual([]);
  expectAccepted(await send(world.api, sent));
  expect(await nonceRows(key)).toHaveLength(1);
});

test('a nonce is kept as a hash, longer than its signature is good, and then goes', async () => {
  const key = await hmacKey(world.own.workspaceId);
  const created = nowSeconds() + 55;
  expectAccepted(await send(world.api, by(key, 'forgotten', { created })));
  const [row] = await nonceRows(key);
  expect(row!.nonce_hash).toHaveLength(32);
  // The slowest body takes 120 seconds after the headers.
  expect(row!.expires_at.getTime() / 1000).toBeGreaterThan(created + 300 + 2 * 120);
  await retention.purge();
  expect(await nonceRows(key)).toHaveLength(1);
  await advanceClock(357_000);
  expectRefused(await send(world.api, by(key, 'forgotten', { created })), 'created is more than');
  await retention.purge();
  expect(await nonceRows(key)).toHaveLength(1);
  await advanceClock(row!.expires_at.getTime() - (created + 300) * 1000 + 5_000);
  expect(await retention.purge()).toBeGreaterThan(0);
  expect(await nonceRows(key)).toEqual([]);
  expectAccepted(await send(world.api, by(key, 'forgotten')));
});
