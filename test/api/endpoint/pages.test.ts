import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { catalogue } from '../../../shared/common/errors.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { sendRaw, startSmallApi } from './small-api.ts';

const api = await startSmallApi();
const open = (path: string) => api.call('GET', path, { key: null });

test('the type of every problem leads to a page about it', async () => {
  const index = await open('/problems');
  for (const [code, { title, status }] of Object.entries(catalogue)) {
    const page = await open(`/problems/${code}`);
    expect(page.status).toBe(200);
    expect(page.body).toContain(`<code>${code}</code>`);
    expect(page.body).toContain(`HTTP ${status}`);
    expect(page.body).toContain(`<h1>${title}</h1>`);
    expect(index.body).toContain(`href="/problems/${code}"`);
  }
});

test.each(['nothing', 'toString', '__proto__', '%3Cscript%3E'])(
  '/problems/%s is a 404 page',
  async (code) => {
    const { status, headers, body } = await open(`/problems/${code}`);
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(body).not.toContain('<script>');
  },
);

test('every page loads what it needs from here, under a policy that allows nothing else', async () => {
  for (const path of ['/', '/docs', '/problems', '/problems/not_found', '/problems/nothing']) {
    const { headers, body } = await open(path);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
    for (const name of ['x-powered-by', 'etag']) expect(headers).not.toHaveProperty(name);
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    const addresses = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    for (const address of addresses) {
      expect(address).toMatch(/^\/(?!\/)/);
      expect((await open(address)).status).toBe(200);
    }
  }
});

test('scripts and styles are served as what they are, and nothing else lies beside them', async () => {
  expect((await open('/assets/site.css')).headers['content-type']).toMatch(/^text\/css/);
  expect((await open('/assets/reference.js')).headers['content-type']).toMatch(/^text\/javascript/);
  expect((await open('/assets/scalar.js')).headers['content-type']).toMatch(/^text\/javascript/);
  for (const path of [
    '/assets',
    '/assets/',
    '/assets/package.json',
    '/assets/..%2fpage.ts',
    '/assets/%2e%2e/page.ts',
  ])
    expect((await open(path)).status).toBe(404);
});

test('the reference gets a whole program, packed for whoever takes that, and the styles of its answer alone', async () => {
  const [packed, plain] = await Promise.all(
    ['gzip', 'identity'].map((encoding) =>
      fetch(`${api.url}/assets/scalar.js`, { headers: { 'accept-encoding': encoding } }),
    ),
  );
  expect(packed!.headers.get('content-encoding')).toBe('gzip');
  expect(plain!.headers.get('content-encoding')).toBeNull();
  const source = await plain!.text();
  expect(source).toContain('createApiReference');
  expect(source).not.toContain('sourceMappingURL');
  expect(() => new Script(source)).not.toThrow();
  expect((await packed!.text()) === source).toBe(true);

  const [one, other] = [await open('/docs'), await open('/docs')];
  const [, nonce] = /csp-nonce" content="([^"]{20,})"/.exec(one.body)!;
  expect(one.headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonce}'`);
  expect(other.body).not.toContain(nonce);
  expect((await open('/problems')).headers['content-security-policy']).not.toContain('nonce');
});

const openAt = (host: string, lines = '') =>
  sendRaw(api.port, `GET /docs HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`);

test('the demo key is offered where there is one, to this machine alone, and nowhere else', async () => {
  changeSettings({ DEMO_API_KEY: undefined });
  expect((await open('/docs')).body).not.toContain('use-demo-key');
  for (const address of ['0.0.0.0', '::', '192.0.2.7']) {
    changeSettings({ DEMO_API_KEY: 'msg_demo', BIND_ADDRESS: address });
    expect((await open('/docs')).body).not.toContain('msg_demo');
  }
  changeSettings({ BIND_ADDRESS: '127.0.0.1' });
  expect((await open('/docs')).body).toContain('id="use-demo-key" disabled data-key="msg_demo"');
  for (const path of ['/', '/problems', '/docs/guides'])
    expect((await open(path)).body).not.toContain('msg_demo');
});

test('the demo key is not offered to a website whose name leads to this machine', async () => {
  changeSettings({ DEMO_API_KEY: 'msg_demo', BIND_ADDRESS: '127.0.0.1' });
  for (const host of ['localhost:3000', '127.0.0.1', '127.9.9.9:3000', '[::1]:3000', 'Localhost'])
    expect(await openAt(host), host).toContain('data-key="msg_demo"');
  for (const host of [
    'dev.example',
    'evil.example:3000',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '192.0.2.7',
    '%',
  ]) {
    const answer = await openAt(host);
    expect(answer, host).toContain('200 OK');
    expect(answer, host).not.toContain('msg_demo');
  }
});

test('the demo key is not offered through a proxy or a tunnel on this machine', async () => {
  changeSettings({ DEMO_API_KEY: 'msg_demo', BIND_ADDRESS: '127.0.0.1' });
  for (const line of [
    'Forwarded: for=192.0.2.7',
    'X-Forwarded-For: 192.0.2.7',
    'X-Forwarded-Host: demo.example',
    'X-Real-IP: 192.0.2.7',
    'Via: 1.1 proxy',
    'CF-Connecting-IP: 192.0.2.7',
  ])
    expect(await openAt('localhost', `${line}\r\n`), line).not.toContain('msg_demo');
  for (const settings of [
    { TRUST_PROXY: 1 },
    { TRUST_PROXY: ['10.0.0.1'] },
    { PUBLIC_URL: 'https://dev.example' },
  ]) {
    changeSettings(settings);
    expect(await openAt('localhost')).not.toContain('msg_demo');
    changeSettings({ TRUST_PROXY: 0, PUBLIC_URL: api.url });
  }
  for (const url of ['http://localhost:3000', 'http://127.9.9.9', 'http://[::1]:3000']) {
    changeSettings({ PUBLIC_URL: url });
    expect(await openAt('localhost'), url).toContain('data-key="msg_demo"');
  }
  changeSettings({ PUBLIC_URL: api.url });
});
