// @apart: a process makes the description of the API once, with the settings of that time.
// @slow: it makes the pages and the description of the API anew for several settings.
import { beforeAll, expect, test } from 'vitest';
import { basicLogin } from '../../support/api/basic-login.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

// A proxy removes the path of PUBLIC_URL from each request, so pages must put it before what they lead to.
const path = '/messaging';
const password = 'a-secret-of-operators';
const headers = { accept: 'text/html', ...basicLogin(password) };

let api: Client;
beforeAll(async () => {
  changeSettings({ OPS_PASSWORD: password });
  api = await startApi();
  changeSettings({ PUBLIC_URL: api.url + path });
});

test('where PUBLIC_URL has a path, all that pages lead to and load is below it', async () => {
  const pages = ['/', '/problems', '/docs', '/docs/guides', '/ops', '/ops/queues', '/nothing'];
  const known = new Set(pages);
  const isPage = (place: string) => !/^\/(?:assets|ops\/queues|ops\/metrics)\b|\.\w+$/.test(place);
  for (const page of known) {
    const { status, body } = await api.request('GET', page, { headers });
    expect([page, status]).toEqual([page, page === '/nothing' ? 404 : 200]);
    if (!isPage(page) && !pages.includes(page)) continue;
    for (const [, address] of String(body).matchAll(/ (?:href|src)="(\/[^"#]*)/g)) {
      expect(`${page}: ${address}`).toMatch(new RegExp(`: ${path}/`));
      known.add(address!.slice(path.length));
    }
  }
  expect([...known]).toEqual(
    expect.arrayContaining([
      '/assets/site.css',
      '/assets/scalar.js',
      '/docs/guides/texts',
      '/problems/in_use',
    ]),
  );
});

test('where PUBLIC_URL has a path, redirects, scripts and the description lead below it too', async () => {
  const { status, headers: sent } = await api.request('GET', '/docs/');
  expect([status, sent['location']]).toEqual([308, `${path}/docs`]);
  for (const script of ['reference', 'guide'])
    expect((await api.request('GET', `/assets/${script}.js`)).body).not.toMatch(/['"`]\/\w/);
  const description = JSON.stringify((await api.request('GET', '/openapi.json')).body);
  const links = [...description.matchAll(/\]\((\/[^)]*)\)/g)].map(([, address]) => address);
  expect(links.length).toBeGreaterThan(3);
  for (const address of links) expect(address).toMatch(`${path}/`);
});
