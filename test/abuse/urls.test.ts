import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let path: string;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  const { status, body } = await send('POST', '/v2/webhooks', 'https://example.com/hook');
  expect(status).toBe(201);
  path = `/v2/webhooks/${body.id}`;
});

const send = (method: string, where: string, url: string) =>
  api.request(method, where, {
    key: own.key,
    body: { url, ...(method === 'POST' && { events: ['email.sent'] }) },
  });

// Tests may reach loopback addresses, so this list has addresses that are closed to tests as well.
// Shows A41, A45
test.each([
  'http://10.0.0.1/',
  'http://10.1/',
  'http://167772161/',
  'http://0xa.1/',
  'http://0x0a000001/',
  'http://012.0.0.1/',
  'http://01200000001/',
  'http://10.0.0.1./',
  'http://①⓪.⓪.⓪.①/',
  'http://10。0。0。1/',
  'http://%31%30.0.0.1/',
  'http://0/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://[::]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::10.0.0.1]/',
  'http://[64:ff9b::a00:1]/',
  'http://[2002:a00:1::]/',
  'http://[fe80::1]/',
  'https://user:password@example.com/',
  'https://example.com@10.0.0.1/',
  'https://user@example.com/',
  'https://@example.com/',
  `https://${'a.'.repeat(900)}example/`,
  `https://${'a'.repeat(64)}.example/`,
  'http://exa\tmple.com/',
  'http://example.com/\r\nX-Evil: 1',
  'http://example.com/\u0000',
  'http:example.com',
  'http:\\\\example.com',
  'http:///example.com',
  '//example.com/',
  ' https://example.com/',
  'http://example.com:0/',
  'http://example.com:25/',
  'http://example.com:025/',
  'http://example.com:65536/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  'blob:https://example.com/x',
  `https://example.com/${'x'.repeat(2048)}`,
])('a webhook is neither made for nor moved to %j', async (url) => {
  for (const [method, where] of [
    ['POST', '/v2/webhooks'],
    ['PATCH', path],
  ] as const) {
    const { status, body } = await send(method, where, url);
    expect([method, status, Object.keys(body.errors ?? {})]).toEqual([method, 400, ['url']]);
  }
  expect((await api.request('GET', path, { key: own.key })).body.url).toBe('https://example.com/hook');
});
