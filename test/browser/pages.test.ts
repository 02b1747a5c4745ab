import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'messaging-service/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type Demo, makeDemo } from '../../scripts/setup/start/demo-workspace.ts';
import { gatewayList } from '../../shared/config/sms-gateways.ts';
import { linkFor } from '../../shared/domain/email/test-recipients/link.ts';
import { linkOf } from '../../shared/domain/email/tracking/links.ts';
import { startApi } from '../support/api/start-api.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort, startProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { startBrowser } from '../support/servers/browser.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const desk = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };
const opsPassword = 'the-password-of-the-operator';

let browser: Browser;
let demo: Demo;
let url: string;
let mailbox: string;
beforeAll(async () => {
  browser = await startBrowser();
  demo = await makeDemo();
  const [smtpPort, webPort] = [await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), 'mailbox-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  startProcess('scripts/setup/start/mailbox.ts', [String(smtpPort), String(webPort), folder]);
  mailbox = `http://127.0.0.1:${webPort}`;
  changeSettings({
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    EMAIL_DELIVERED_ON: 'accept',
    SIMULATOR_SECONDS: 0,
    DEMO_API_KEY: demo.apiKey,
    OPS_PASSWORD: opsPassword,
    // It is spoken to when a text goes out by it, and those to numbers for tests never do.
    SMS_GATEWAYS: gatewayList.parse(
      JSON.stringify([
        {
          name: 'a-carrier',
          type: 'http',
          url: 'http://127.0.0.1:9/texts',
          secret: 'a-secret-of-the-carrier',
        },
      ]),
    ),
    SYSTEM_SENDER: 'Platform <hello@demo.example>',
    // The key is for a platform that this machine alone reaches.
    BIND_ADDRESS: '127.0.0.1',
  });
  ({ url } = await startApi());
  await runWorkers();
  await waitFor(
    'the mailbox answers',
    async () => (await fetch(mailbox, { headers: { accept: 'text/html' } })).ok,
  );
  // Debian's package may have to be fetched first.
}, 300_000);

/** A window of its own. A request to anywhere else, or a script that fails, fails the test when it is closed. */
async function open(path: string, settings: Parameters<Browser['newContext']>[0] = {}) {
  const context: BrowserContext = await browser.newContext({ viewport: desk, ...settings });
  context.setDefaultTimeout(90_000);
  const faults: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !/^(?:data|blob):/.test(request.url()))
      faults.push(`asks for ${request.url()}`);
  });
  const page = await context.newPage();
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(url + path);
  const close = async () => {
    await context.close();
    expect(faults).toEqual([]);
  };
  return { page, close };
}

/** The faults axe finds that keep somebody from reading or using the page. */
async function seriousFaults(page: Page, rules?: string[]): Promise<string[]> {
  // Playwright's waitForFunction asks again with eval, which the page's Content-Security-Policy refuses.
  await waitFor('nothing moves any more', () =>
    page.evaluate<boolean>('document.getAnimations().every(({ playState }) => playState !== "running")'),
  );
  await page.evaluate(`window.axe ?? (() => { ${axe} })()`);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ id, impact }) => ['serious', 'critical'].includes(impact) || id.startsWith('landmark'))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}

async function widthOnPhone(page: Page): Promise<number> {
  await page.setViewportSize(phone);
  return page.evaluate<number>('document.documentElement.scrollWidth');
}

/** The reference, with the demo key in use. */
async function openReference(settings?: Parameters<Browser['newContext']>[0]) {
  const window = await open('/docs', settings);
  await window.page.getByRole('button', { name: 'Use the demo key' }).click();
  return window;
}

/** Looks for an operation as a reader does, and sends its example as it stands. */
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
  // On a busy machine the dialog may miss an answer, or the platform say that it is busy: a reader sends it again.
  const response = await waitFor('the reference shows 201', async () => {
    const [answer] = await Promise.all([
      page.waitForResponse((one) => one.request().method() === 'POST' && one.url() === url + path),
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
  // The dialog fades out, and half faded its text has too little contrast.
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

  const api = createClient({ baseUrl: url, apiKey: demo.apiKey });
  const statusOf = {
    email: async () => (await api.get('/v2/email/{id}', { path: { id: email.body.id } })).status,
    text: async () => (await api.get('/v2/sms/{id}', { path: { id: text.body.id } })).status,
  };
  await waitFor('the text is delivered', async () => (await statusOf.text()) === 'delivered');
  await waitFor('the email is delivered', async () => (await statusOf.email()) === 'delivered');
  const window = await browser.newPage();
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

/** Faults that keep somebody from reading the page as it stands, in light, in dark or on a phone. */
async function faultsOfPage(page: Page, { inDark = true } = {}): Promise<string[]> {
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await seriousFaults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = inDark ? await seriousFaults(page, ['color-contrast']) : [];
  const width = await widthOnPhone(page);
  return [...light, ...dark, ...(width === phone.width ? [] : [`is ${width} px wide on a phone`])];
}

test('every other page can be read by everybody, in light and dark, on a phone', async () => {
  const { page, close } = await open('/docs/guides', {
    httpCredentials: { username: 'operator', password: opsPassword },
  });
  const guides = await page
    .locator('main a[href^="/docs/guides/"]')
    .evaluateAll((links) => links.map((link) => (link as unknown as { pathname: string }).pathname));
  expect(guides.length).toBeGreaterThan(20);
  const paths = [
    '/',
    '/docs/guides',
    ...new Set(guides),
    '/problems',
    '/problems/not_found',
    '/problems/nothing',
  ];
  const recipients = ['/u/unknown', '/l/unknown', '/confirm/unknown'];
  const faults: Record<string, string[]> = {};
  const look = async (name: string, options?: { inDark: boolean }) => {
    const found = await faultsOfPage(page, options);
    if (found.length > 0) faults[name] = found;
  };
  for (const path of [...paths, ...recipients, '/ops/gateways']) {
    await page.goto(url + path);
    // All guides have the colours of a few.
    await look(path, { inDark: guides.indexOf(path) < 3 });
  }
  for (const link of [linkOf('unsubscribe', await acceptedEmail()), linkFor(await addedTestRecipient())]) {
    const { pathname } = new URL(link);
    await page.goto(url + pathname);
    await look(`the question at ${pathname}`);
    await page.getByRole('button').click();
    await page.getByRole('button').waitFor({ state: 'detached' });
    await look(`the answer at ${pathname}`);
  }
  expect(faults).toEqual({});
  await close();
});

async function addedTestRecipient(): Promise<string> {
  const { id } = await createClient({ baseUrl: url, apiKey: demo.apiKey }).post('/v2/email/test-recipients', {
    body: { email: 'reader@example.com' },
  });
  return id;
}

async function acceptedEmail(): Promise<string> {
  const { id } = await createClient({ baseUrl: url, apiKey: demo.apiKey }).post('/v2/email', {
    body: {
      sender: demo.sender,
      recipient: 'reader@example.com',
      subject: 'News',
      content: { text: 'News' },
      kind: 'marketing',
    },
  });
  return id;
}
