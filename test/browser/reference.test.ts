// @slow: a browser opens every page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'messaging-service/client';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { startProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { openSite, phone, type Site, seriousFaults, widthOnPhone } from './site.ts';

useDatabase();

let site: Site;
let mailbox: string;
beforeAll(async () => {
  const [smtpPort, webPort] = [await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), 'mailbox-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  startProcess('scripts/setup/start/mailbox.ts', [String(smtpPort), String(webPort), folder]);
  mailbox = `http://127.0.0.1:${webPort}`;
  site = await openSite({
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    EMAIL_DELIVERED_ON: 'accept',
    SIMULATOR_SECONDS: 0,
  });
  await runWorkers();
  await waitFor(
    'the mailbox answers',
    async () => (await fetch(mailbox, { headers: { accept: 'text/html' } })).ok,
  );
}, 300_000);

/** Opens the reference, with the demo key in use. */
async function openReference(settings?: BrowserContextOptions) {
  const window = await site.open('/docs', settings);
  await window.page.getByRole('button', { name: 'Use the demo key' }).click();
  return window;
}

/** Looks for an operation as a reader does, and sends its example without a change. */
async function sendExample(
  page: Page,
  { search, finds, path }: { search: string; finds: RegExp; path: string },
) {
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click();
  await page.keyboard.type(search);
  await page.getByRole('option', { name: finds }).click();
  await page
    .getByRole('button', { name: new RegExp(`^Test Request\\s*\\(post ${path}\\)`) })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  // On a busy machine the dialog may miss an answer, or the platform may say that it is busy, so the test sends again.
  const response = await waitFor('the reference shows 201', async () => {
    const [answer] = await Promise.all([
      page.waitForResponse((one) => one.request().method() === 'POST' && one.url() === site.url + path),
      dialog
        .getByRole('button', { name: /^Send\b/ })
        .first()
        .click(),
    ]);
    expect(answer.status(), await answer.text()).toBe(201);
    await dialog.getByText('201 Created').first().waitFor({ timeout: 30_000 });
    return answer;
  });
  await dialog.getByRole('button', { name: 'Close Client' }).first().click();
  // The dialog fades out, and while it fades its text has too little contrast.
  await dialog.waitFor({ state: 'hidden' });
  return { status: response.status(), body: await response.json() };
}

test('a newcomer sends a first email and a first text from the reference, and sees them arrive', async () => {
  const { page, close } = await openReference();
  const email = await sendExample(page, {
    search: 'unsubscribe',
    finds: /Send one email/,
    path: '/v2/email',
  });
  expect(email).toMatchObject({ status: 201, body: { status: 'queued', subject: 'Hello' } });
  expect(await seriousFaults(page)).toEqual([]);
  const text = await sendExample(page, {
    search: 'text message',
    finds: /Send one text message/,
    path: '/v2/sms',
  });
  expect(text).toMatchObject({ status: 201, body: { status: 'queued' } });
  await close();

  const api = createClient({ baseUrl: site.url, apiKey: site.demo.apiKey });
  const statusOf = {
    email: async () => (await api.get('/v2/email/{id}', { path: { id: email.body.id } })).status,
    text: async () => (await api.get('/v2/sms/{id}', { path: { id: text.body.id } })).status,
  };
  await waitFor('the text is delivered', async () => (await statusOf.text()) === 'delivered');
  await waitFor('the email is delivered', async () => (await statusOf.email()) === 'delivered');
  const window = await site.browser.newPage();
  await window.goto(mailbox);
  await window.getByText('ada@example.com').first().waitFor();
  await window.getByText('Hello').first().waitFor();
  await window.context().close();
});

test('the reference can be read in the dark and on a phone', async () => {
  const { page, close } = await openReference({ colorScheme: 'dark' });
  await page.getByRole('heading', { name: 'Authentication' }).first().waitFor();
  expect(await seriousFaults(page, ['color-contrast'])).toEqual([]);
  expect(await widthOnPhone(page)).toBe(phone.width);
  await close();
});

/** Presses Tab, as a person without a mouse does, until the button has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const focused = `(() => { const at = document.activeElement; return at?.getAttribute('aria-label') ?? at?.textContent ?? '' })()`;
  for (let times = 0; times < 400; times += 1) {
    await page.keyboard.press('Tab');
    if (name.test(await page.evaluate<string>(focused))) return;
  }
  throw new Error(`No button ${name} is reached by Tab`);
}

test('an email is found, sent and its answer read by keyboard alone', async () => {
  const { page, close } = await site.open('/docs');
  await page.locator('#use-demo-key:enabled').waitFor();
  await tabTo(page, /^Use the demo key$/);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Enter search query' }).waitFor();
  await page.keyboard.type('send one email');
  await page.getByRole('option', { name: /Send one email/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=option][aria-selected=true]', { hasText: 'Send one email' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/#tag\/email\/POST\/v2\/email$/);
  await tabTo(page, /^Test Request\s*\(post \/v2\/email\)/);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // On a busy machine the dialog may miss an answer, so the test sends again.
  await waitFor('the reference shows 201', async () => {
    await page.keyboard.press('Control+Enter');
    await dialog.getByText('201 Created').first().waitFor({ timeout: 30_000 });
    return true;
  });
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await close();
});

const shell = ['Curl', 'HTTPie', 'Wget'];
const node = ['Axios', 'Fetch', 'ofetch', 'undici'];
const python = ['HTTPX (Async)', 'HTTPX (Sync)', 'Requests', 'aiohttp', 'http.client'];

test('the snippets of an operation are in curl, Node and Python, and are copied by their button', async () => {
  const { page, close } = await site.open('/docs#tag/email/POST/v2/email', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
  const menu = page.getByRole('button', { name: /^Change code sample language/ }).first();
  await menu.click();
  const options = page.getByRole('option');
  await options.first().waitFor();
  expect((await options.allTextContents()).toSorted()).toEqual([...shell, ...node, ...python].toSorted());
  await page.keyboard.press('Escape');
  for (const [client, expected] of [
    ['Curl', /^curl \S+\/v2\/email \\\n/],
    ['Fetch', /^fetch\('\S+\/v2\/email', \{/],
    ['Requests', /^(?:import requests\n+)?requests\.post\(\s*"\S+\/v2\/email"/],
  ] as const) {
    await menu.click();
    await page.getByRole('option', { name: client, exact: true }).first().click();
    await page
      .getByRole('button', { name: /^Copy .+ code$/ })
      .first()
      .click();
    await waitFor(`the clipboard has that of ${client}`, async () => {
      expect(await clipboard()).toMatch(expected);
      return true;
    });
  }
  await close();
});
