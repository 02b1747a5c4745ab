import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { type Client, startApi } from '../support/start-api.ts';
import { folder } from './run-program.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const open = (path: string) => api.request('GET', path);
const files = readdirSync(folder);
const guides = files.filter((name) => name.endsWith('.html')).map((name) => name.slice(0, -'.html'.length));
const programs = files.filter((name) => !/\.(html|svg)$/.test(name));

const textOf = (html: string) =>
  html.replaceAll(/&#(\d+);/g, (_text, code) => String.fromCharCode(Number(code)));

test('the guides are found from the first page, through their list', async () => {
  expect(guides.length).toBeGreaterThanOrEqual(3);
  expect((await open('/')).body).toContain('href="/docs/guides"');
  const { status, body } = await open('/docs/guides');
  expect(status).toBe(200);
  for (const name of guides) expect(body).toContain(`href="/docs/guides/${name}"`);
});

test('each program is fetched as the file that it is, and shown in a guide as that file', async () => {
  const pages = await Promise.all(
    guides.map(async (name) => textOf((await open(`/docs/guides/${name}`)).body)),
  );
  expect(programs.length).toBeGreaterThanOrEqual(6);
  for (const name of programs) {
    const source = readFileSync(join(folder, name), 'utf8');
    const { status, headers, body } = await open(`/docs/guides/${name}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(body).toBe(source);
    expect(pages.filter((page) => page.includes(source))).toHaveLength(1);
    expect(pages.some((page) => page.includes(`curl -O ${api.url}/docs/guides/${name}`))).toBe(true);
  }
});

test('a guide says all that it was written to say, and brings nothing from another host', async () => {
  for (const name of guides) {
    const { status, headers, body } = await open(`/docs/guides/${name}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(body).not.toMatch(/\{\{|<script|<style|\sstyle=|\son\w+=/);
    for (const [, address] of body.matchAll(/(?:src|href)="([^"]*)"/g)) {
      expect(address).toMatch(/^\/(?!\/)/);
      expect([address, (await open(address)).status]).toEqual([address, 200]);
    }
    // Tags that do not match would swallow what follows them.
    for (const tag of [
      'p',
      'ol',
      'ul',
      'li',
      'table',
      'tr',
      'td',
      'th',
      'pre',
      'code',
      'h2',
      'a',
      'figure',
      'svg',
      'text',
    ])
      expect([name, tag, body.split(`</${tag}>`).length]).toEqual([
        name,
        tag,
        body.split(new RegExp(`<${tag}[ >]`)).length,
      ]);
  }
});

test('nothing else is served beside them, and nothing but GET; a slash at the end leads to the page', async () => {
  expect((await open('/docs/guides/receive-webhooks/')).status).toBe(308);
  for (const path of ['receive-webhooks.html', 'nothing', '..%2fpage.ts', '%2e%2e/page.ts'])
    expect([path, (await open(`/docs/guides/${path}`)).status]).toEqual([path, 404]);
  for (const path of ['/docs/guides', '/docs/guides/receive-webhooks', '/docs/guides/receiver.mjs'])
    expect((await api.request('POST', path)).headers).toMatchObject({ allow: 'GET, HEAD' });
});
