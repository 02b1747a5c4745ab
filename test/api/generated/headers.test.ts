import type { Express } from 'express';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { config } from '../../../shared/config/config.ts';
import { linkFor } from '../../../shared/domain/email/test-recipients/link.ts';
import { linkOf } from '../../../shared/domain/email/tracking/links.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { basicLogin } from '../../support/api/basic-login.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';

let mysql: TcpProxy;
beforeAll(async () => {
  mysql = await startTcpProxy(config.MYSQL_URL, 3306);
  changeSettings({
    MYSQL_URL: mysql.url,
    OPS_PASSWORD: 'a-secret-of-operators',
    INBOUND_TOKEN: '0123456789abcdef',
    PUBLIC_URL: 'http://127.0.0.1',
  });
});
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

afterEach(() => mysql.pass());

type Layer = { route?: { path: string; methods: Record<string, boolean> }; handle: { stack?: Layer[] } };

/** Returns every path outside of /v2 that a router of the app declares. */
function pathsOf(app: Express): string[] {
  const under = ({ route, handle }: Layer): string[] =>
    route ? [route.path] : (handle.stack ?? []).flatMap(under);
  const { stack } = app.router as unknown as { stack: Layer[] };
  return [...new Set(stack.flatMap(under))].filter((path) => !path.startsWith('/v2/'));
}

const operator = basicLogin('a-secret-of-operators');
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...operator };
const isPage = ({ headers }: Answer) => headers['content-type']?.startsWith('text/html') ?? false;

function expectSoundPage({ headers, body }: Answer): void {
  const policy = headers['content-security-policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src '(?:self|none)';/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  if (!body.includes('__UI_CONFIG__')) expect(policy).not.toContain('unsafe');
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'content-type': 'text/html; charset=utf-8',
  });
  for (const name of ['x-powered-by', 'server', 'etag']) expect(headers).not.toHaveProperty(name);
}

test('every page, of every route there is, has the whole set of headers', async () => {
  const declared = pathsOf(createApp());
  const known = [
    '/',
    '/docs',
    '/docs/guides',
    '/problems',
    '/problems/:code',
    '/confirm/:token',
    '/u/:token',
  ];
  expect(declared).toEqual(
    expect.arrayContaining([...known, '/openapi.json', '/health/live', '/o/:token.gif']),
  );
  const asked = [...declared.map((path) => path.replaceAll(/:\w+/g, 'unknown')), '/problems/not_found'];
  const pages: string[] = [];
  for (const path of [...asked, '/ops', '/ops/queues', '/ops/queues/queue/send-email', '/ops/metrics']) {
    const answer = await api.request('GET', path, { headers: browser });
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    if (!isPage(answer)) continue;
    pages.push(path);
    expectSoundPage(answer);
  }
  for (const path of [
    '/',
    '/docs',
    '/problems/not_found',
    '/problems/unknown',
    '/confirm/unknown',
    '/u/unknown',
  ])
    expect(pages).toContain(path);
  expect(pages).toContain('/ops/queues');
  expect(pages.filter((path) => path.startsWith('/docs/guides/')).length).toBeGreaterThan(2);
});

test.each<[what: string, status: number, method: string, path: string, headers?: Record<string, string>]>([
  ['an unknown page', 404, 'GET', '/nothing'],
  ['an unknown page of the operator', 404, 'GET', '/ops/nothing'],
  ['the wrong method', 405, 'DELETE', '/docs'],
  ['a path that is no UTF-8', 404, 'GET', '/u/%E0%A4%A'],
  ['no password', 401, 'GET', '/ops/queues', { authorization: '' }],
  ['a form of another site', 403, 'POST', '/ops/queues', { 'sec-fetch-site': 'cross-site' }],
])('%s is a page for a browser, with the same headers', async (_what, status, method, path, headers = {}) => {
  const answer = await api.request(method, path, { headers: { ...browser, ...headers } });
  expect([answer.status, isPage(answer)]).toEqual([status, true]);
  expectSoundPage(answer);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body).toContain(answer.headers['request-id']);
});

test('what is not asked for as a page is a problem document, as is everything under /v2', async () => {
  for (const [path, accept] of [
    ['/nothing', '*/*'],
    ['/nothing', 'application/json'],
    ['/v2/nothing', browser.accept],
    ['/v2/email', browser.accept],
  ] as const) {
    const answer = await api.request('GET', path, { headers: { accept } });
    expect(answer.headers['content-type']).toBe('application/problem+json');
  }
});

const tokenOf: Record<string, () => string> = {
  '/confirm': () => linkFor(newId('testrecipient', new Date())).split('/').at(-1)!,
  '/u': () => linkOf('unsubscribe', newId('email', new Date())).split('/').at(-1)!,
};
test.each(['/confirm', '/u'])(
  'while MySQL is away %s is a page that says when to come again, and nothing of the fault',
  async (place) => {
    const path = `${place}/${tokenOf[place]!()}`;
    mysql.refuse();
    for (const method of ['GET', 'POST']) {
      const answer = await api.request(method, path, { headers: { accept: browser.accept } });
      expect([answer.status, isPage(answer)]).toEqual([503, true]);
      expectSoundPage(answer);
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'retry-after': expect.stringMatching(/^[1-9]\d*$/),
      });
      expect(answer.body).toContain('try again in a minute');
      expect(answer.body).not.toMatch(/ECONN|mysql|SELECT|\/api\/|\.ts/i);
    }
  },
);

test('answers of every operation are kept by nobody and taken for nothing else', async () => {
  const check = ({ headers }: Answer) => {
    expect(headers['cache-control']).toBe('no-store');
    if (headers['content-type']) expect(headers['x-content-type-options']).toBe('nosniff');
    for (const name of ['x-powered-by', 'server', 'etag']) expect(headers).not.toHaveProperty(name);
  };
  const answered: number[] = [];
  for (const { method, path } of endpoints) {
    const target = path.replaceAll(/\{\w+\}/g, 'unknown');
    check(await api.request(method.toUpperCase(), target));
    const answer = await api.request(method.toUpperCase(), target, { key: own.key });
    check(answer);
    answered.push(answer.status);
  }
  expect(answered.filter((status) => status < 300).length).toBeGreaterThan(10);
  expect(answered.filter((status) => status === 404).length).toBeGreaterThan(10);
});
