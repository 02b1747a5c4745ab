import { expect, test } from 'vitest';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import {
  expectAccepted,
  expectAdmitted,
  expectRefused,
  headerOf,
  type Outcome,
  send,
  signedGet,
  signedPost,
  useSignedApi,
} from './signed-api.ts';

useDatabase();
const world = useSignedApi();

const mismatch = 'does not match the request';
const get = (target: string, publicUrl = world.api.url) =>
  signedGet(world, world.hmac, {}, { target, publicUrl });
const answerTo = (target: string, publicUrl?: string) => send(world.api, get(target, publicUrl));

test.each([
  '/v2/email',
  '/v2/email?',
  '/v2/email?limit=1',
  '/v2/email?limit=1&',
  '/v2/email?a=1?b',
  '/v2/email?a=%20b+c',
  '/v2/email?a=%C3%A9&%c3%a9=A',
  '/v2/email?b=2&a=1&b=1',
  '/v2/email?x=/../y//z;p#part',
  "/v2/email?'|{}[]^`<>\\",
])('the query of %s is signed as it is sent', async (target) => {
  expectAdmitted(await answerTo(target));
});

test.each([
  ['/v2/email?a=%20b+c', '/v2/email?a=+b+c'],
  ['/v2/email?a=%c3%a9', '/v2/email?a=%C3%A9'],
  ['/v2/email?a=1&b=2', '/v2/email?b=2&a=1'],
  ['/v2/email?limit=1', '/v2/email?limit=1&'],
  ['/v2/email?limit=1', '/v2/email'],
  ['/v2/email', '/v2/email?limit=1'],
  ['/v2/email?a=b', '/v2/email?a=b#part'],
])('what was signed for %s is refused for %s', async (signed, target) => {
  expectRefused(await send(world.api, { ...get(signed), target }), mismatch);
  expectAdmitted(await send(world.api, get(signed)));
  expectAdmitted(await send(world.api, get(target)));
});

/** Expects a 404: only an authenticated caller is told that there is no such email. */
function expectNotFound(answer: Outcome) {
  expect([answer.status, answer.body.type]).toEqual([404, `${world.api.url}/problems/not_found`]);
}

// Shows A10
test.each([
  ['/v2/email/%2e', '/v2/email/%2E'],
  ['/v2/email/%2e%2e', '/v2/email/..'],
  ['/v2/email/.', '/v2/email/%2e'],
  ['/v2/email/a;a=1', '/v2/email/a'],
  ['/v2/email/a%3Ba=1', '/v2/email/a;a=1'],
  ['/v2/email/a%2Fb', '/v2/email/a%2fb'],
  ['/v2/email/a%20b', '/v2/email/a+b'],
  ['/v2/email/a', '/v2/email/A'],
])('the path %s is signed as it is sent: it is not %s', async (signed, target) => {
  expectNotFound(await send(world.api, get(signed)));
  expectNotFound(await send(world.api, get(target)));
  expectRefused(await send(world.api, { ...get(signed), target }), mismatch);
});

test('a path that only looks like another leads nowhere, whatever was signed', async () => {
  for (const target of ['//v2/email', '/v2//email', '/v2/email/', '/v2/../v2/email', '/v2/%65mail//'])
    for (const signed of ['/v2/email', target])
      expect((await send(world.api, { ...get(signed), target })).status, target).toBe(404);
  expectAccepted(await answerTo('/v2/email'));
});

test('bytes beyond ASCII never arrive in a target', async () => {
  for (const target of ['/v2/email?a=\xc3\xa9', '/v2/email/\xc3\xa9'])
    expect((await answerTo(target)).status).toBe(400);
});

test('HEAD is signed as HEAD', async () => {
  const head = (method: string) => {
    const sent = signedGet(world, world.hmac, { values: { '@method': method } }, { target: '/v2/email' });
    return world.api.request('HEAD', '/v2/email', { headers: Object.fromEntries(sent.headers) });
  };
  expect((await head('HEAD')).status).toBe(200);
  expect((await head('GET')).status).toBe(401);
  expect((await head('head')).status).toBe(401);
});

test.each([
  ['https://api.example.com', ['https://api.example.com', 'https://API.example.com:443']],
  ['https://API.Example.COM:443', ['https://api.example.com']],
  ['http://api.example.com:80', ['http://api.example.com']],
  ['https://api.example.com:8443', ['https://api.example.com:8443']],
  ['https://[2001:DB8::1]:8443', ['https://[2001:db8::1]:8443']],
])(
  'with PUBLIC_URL %s a request is signed for that host, whatever Host says',
  async (publicUrl, goodUrls) => {
    const own = world.api.url;
    changeSettings({ PUBLIC_URL: publicUrl });
    try {
      for (const url of goodUrls) {
        expectAccepted(await answerTo('/v2/email?limit=1', url));
        expectAccepted(await send(world.api, signedPost(world, world.ecdsa, {}, { publicUrl: url })));
      }
      for (const url of [own, 'https://proxy.internal', 'https://api.example.com:444', 'https://example.com'])
        expectRefused(await answerTo('/v2/email?limit=1', url), mismatch);
    } finally {
      changeSettings({ PUBLIC_URL: own });
    }
  },
);

test('where PUBLIC_URL has a path that a proxy takes off, the client signs the path that it called', async () => {
  const own = world.api.url;
  const publicUrl = 'https://example.com/messaging';
  changeSettings({ PUBLIC_URL: publicUrl });
  try {
    expectAccepted(await answerTo('/v2/email', publicUrl));
    expectAccepted(await answerTo('/v2/email?limit=1', publicUrl));
    expectRefused(await answerTo('/v2/email', 'https://example.com'), mismatch);
    expectRefused(await answerTo('/v2/email', 'https://example.com/other'), mismatch);
  } finally {
    changeSettings({ PUBLIC_URL: own });
  }
  expectAccepted(await answerTo('/v2/email'));
});

// Shows A48
test('an absolute target is refused, signed or not', async () => {
  const sent = get('/v2/email');
  expect(headerOf(sent, 'signature-input')).not.toBe('');
  const answer = await send(world.api, { ...sent, target: `${world.api.url}/v2/email` });
  expect(answer.status).toBe(400);
});
