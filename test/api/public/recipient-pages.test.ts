import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { linkFor } from '../../../shared/domain/email/test-recipients/link.ts';
import { linkOf } from '../../../shared/domain/email/tracking/links.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

const product = 'Ada & Söhne <Post>';
const escapedProduct = 'Ada &#38; Söhne &#60;Post&#62;';
let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  changeSettings({ PRODUCT_NAME: product, SYSTEM_SENDER: 'Platform <hello@platform.example>' });
  api = await startApi();
  own = await workspace({ name: 'Acme <b>Ltd</b>' });
});
const escapedWorkspace = 'Acme &#60;b&#62;Ltd&#60;/b&#62;';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const open = (path: string, method = 'GET') => api.request(method, path, { headers: browser });

/** Expects a complete, readable page for a recipient, without links to the API and without anything that loads. */
function expectRecipientPage({ headers, body }: Answer, from: string): void {
  expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(body).toContain(`<header>${from}</header>`);
  expect(body).toContain(`· ${from}</title>`);
  for (const part of [/<main>/g, /<h1>/g, /<title>/g]) expect(body.match(part)).toHaveLength(1);
  expect(body).not.toMatch(/<(?:nav|a|script|img)\b/);
  expect([...body.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address)).toEqual(['data:,']);
  const [, style] = /<style>([^]*)<\/style>/.exec(body)!;
  const hash = createHash('sha256').update(style!).digest('base64');
  expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
  expect(headers['content-security-policy']).toContain("script-src 'none'");
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  });
}

test('a recipient reads whose mail it is, and nothing that leads to the API', async () => {
  const { id } = await acceptEmail(own, { kind: 'marketing', recipient: 'ada@example.com' });
  const link = new URL(linkOf('unsubscribe', id)).pathname;
  for (const [method, title] of [
    ['GET', 'Unsubscribe'],
    ['POST', 'You are unsubscribed'],
  ] as const) {
    const page = await open(link, method);
    expect(page.status).toBe(200);
    expectRecipientPage(page, escapedWorkspace);
    expect(page.body).toContain(`<h1>${title}</h1>`);
    expect(page.body).toContain(`<footer>Served by <strong>${escapedProduct}</strong></footer>`);
    expect(page.body).toContain(own.sender);
    expect(page.body).not.toContain('ada@');
  }
});

test('a test recipient reads the same on the page of the confirmation', async () => {
  const { body } = await api.request('POST', '/v2/email/test-recipients', {
    key: own.key,
    body: { email: 'reader@example.com' },
  });
  const link = new URL(linkFor(body.id)).pathname;
  for (const method of ['GET', 'POST']) {
    const page = await open(link, method);
    expect(page.status).toBe(200);
    expectRecipientPage(page, escapedWorkspace);
  }
});

test.each([
  ['GET', '/u/unknown', 404],
  ['POST', '/u/unknown', 404],
  ['GET', '/confirm/unknown', 404],
  ['GET', '/l/unknown', 404],
  ['GET', '/l/abcdefghi', 404],
  ['GET', '/u/unknown/more', 404],
  ['GET', '/u/%E0%A4%A', 404],
  ['PUT', '/u/unknown', 405],
  ['DELETE', '/confirm/unknown', 405],
  ['POST', '/l/abcdefghi', 405],
])('%s %s is a page of the service, whatever is wrong with it', async (method, path, status) => {
  const page = await open(path, method);
  expect(page.status).toBe(status);
  expectRecipientPage(page, escapedProduct);
});

test('the pages of developers have the name and the logo too', async () => {
  for (const path of ['/', '/problems/not_found']) {
    const { body } = await open(path);
    expect(body).toContain('<a class="home" href="/"><svg class="logo" aria-hidden="true"');
    expect(body).toContain(`</svg>${escapedProduct}</a>`);
  }
});
