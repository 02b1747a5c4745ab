import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../support/api/start-api.ts';
import { useDatabase } from '../support/database/database.ts';
import { folder } from './run-program.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const open = (path: string) => api.request('GET', path);
const files = readdirSync(folder);
const guides = files
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => name.slice(0, -'.md'.length));
const programs = files.filter((name) => !/\.(md|svg|png)$/.test(name));
const sourceOf = (name: string) => readFileSync(join(folder, name), 'utf8');

const entities: Record<string, string> = { quot: '"', lt: '<', gt: '>', amp: '&' };
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:#(x?)([0-9a-f]+)|(\w+));/g, (_text, hex, code, name) =>
      name ? entities[name]! : String.fromCharCode(Number.parseInt(code, hex ? 16 : 10)),
    );

test('the guides are found from the first page, through their list', async () => {
  expect(guides.length).toBeGreaterThanOrEqual(20);
  expect((await open('/')).body).toContain('href="/docs/guides"');
  const { status, body } = await open('/docs/guides');
  expect(status).toBe(200);
  for (const name of guides) {
    expect(body.split(`href="/docs/guides/${name}"`), `${name} in its list and in the column`).toHaveLength(
      3,
    );
    const title = /^# (.*)\n/.exec(sourceOf(`${name}.md`))![1]!;
    expect((await open(`/docs/guides/${name}`)).body).toContain(
      `<li><a href="/docs/guides/${name}" aria-current="page">${title}</a>`,
    );
  }
});

test('each program is fetched as the file that it is, and shown in a guide as that file', async () => {
  const pages = await Promise.all(
    guides.map(async (name) => textOf((await open(`/docs/guides/${name}`)).body)),
  );
  expect(programs.length).toBeGreaterThanOrEqual(6);
  for (const name of programs) {
    const source = sourceOf(name);
    const { status, headers, body } = await open(`/docs/guides/${name}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(body).toBe(source);
    expect([name, pages.filter((page) => page.includes(source)).length]).toEqual([name, 1]);
    expect(pages.some((page) => page.includes(`curl -O ${api.url}/docs/guides/${name}`))).toBe(true);
  }
});

test('a guide says all that it was written to say, brings nothing from another host, and its links lead somewhere', async () => {
  const anchors = new Map<string, Set<string>>();
  const links: [from: string, to: string][] = [];
  for (const name of ['', ...guides.map((guide) => `/${guide}`)]) {
    const path = `/docs/guides${name}`;
    const { status, headers, body } = await open(path);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    const own = body.replace('<script src="/assets/guide.js" type="module"></script>', '');
    expect(own).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
    // Remains of broken Markdown, such as a table without its line of dashes or a fence without its end.
    const prose = textOf(own.replaceAll(/<(code|figure)>[^]*?<\/\1>/g, 'x'));
    expect(prose).not.toMatch(/\]\(|```|^\s*\||\*\*/m);
    for (const [, address] of own.matchAll(/\ssrc="([^"]*)"/g)) expect(address).toMatch(/^\/(?!\/)/);
    const ids = [...own.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!);
    expect([path, ids.length]).toEqual([path, new Set(ids).size]);
    anchors.set(path, new Set(ids));
    for (const [, href] of own.matchAll(/<a [^>]*?href="([^"]*)"/g)) links.push([path, textOf(href)]);
  }
  for (const [from, href] of links) {
    if (href.startsWith('https://')) continue;
    expect([from, href]).toEqual([from, expect.stringMatching(/^[#/]/)]);
    const { pathname, hash } = new URL(href, api.url + from);
    const known = anchors.get(pathname);
    if (hash) expect([from, href, known?.has(decodeURIComponent(hash.slice(1)))]).toEqual([from, href, true]);
    if (!known) expect([from, href, (await open(pathname)).status]).toEqual([from, href, 200]);
  }
});

test('files and folders that the guides, the README and the changelog name are there', () => {
  const root = join(import.meta.dirname, '../..');
  const pages = [...guides.map((name) => join(folder, `${name}.md`)), 'README.md', 'CHANGELOG.md'];
  const named = pages.flatMap((page) => {
    const source = readFileSync(resolve(root, page), 'utf8');
    return [...source.matchAll(/[`(\s]((?:api|workers|shared|scripts|test)\/[\w./-]*[\w/])/g)].map(
      ([, path]) => `${page}: ${path}`,
    );
  });
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((place) => !existsSync(join(root, place.split(': ')[1]!)))).toEqual([]);
});

test('a file names the platform of scripts/start, and the page the one that it is served by', async () => {
  expect(sourceOf('send-to-many.md')).toContain('curl -s http://127.0.0.1:3000/v2/sms/batches ');
  expect(textOf((await open('/docs/guides/send-to-many')).body)).toContain(
    `curl -s ${api.url}/v2/sms/batches `,
  );
});

test('nothing else is served beside them, and nothing but GET; a slash at the end leads to the page', async () => {
  expect((await open('/docs/guides/receive-webhooks/')).status).toBe(308);
  for (const path of ['receive-webhooks.md', 'README', 'nothing', '..%2fpage.ts', '%2e%2e/page.ts'])
    expect([path, (await open(`/docs/guides/${path}`)).status]).toEqual([path, 404]);
  for (const path of ['/docs/guides', '/docs/guides/receive-webhooks', '/docs/guides/receiver.mjs'])
    expect((await api.request('POST', path)).headers).toMatchObject({ allow: 'GET, HEAD' });
});
