import { expect, test } from 'vitest';
import { useDatabase } from '../../../support/database/database.ts';
import { expectAccepted, type Outcome, send, signedPost, useSignedApi, withHeaders } from './signed-api.ts';

useDatabase();
const world = useSignedApi();

const codeOf = ({ body }: Outcome) => body.type?.split('/problems/')[1];

// Shows A46
test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json; charset=utf-7',
  'application/jsonp',
])('a body of type %s is refused, however well it is signed', async (type) => {
  for (const key of [world.hmac, world.ecdsa]) {
    const answer = await send(world.api, signedPost(world, key, {}, { headers: { 'content-type': type } }));
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
  }
});

test('a signed body without its type, or in another encoding, is refused', async () => {
  const sent = signedPost(world, world.hmac);
  const untyped = await send(world.api, withHeaders(sent, { 'content-type': undefined }));
  expect([400, 401, 415]).toContain(untyped.status);
  const packed = signedPost(world, world.hmac, {}, { headers: { 'content-encoding': 'gzip' } });
  expect(codeOf(await send(world.api, packed))).toBe('unsupported_media_type');
  expectAccepted(await send(world.api, sent));
});
