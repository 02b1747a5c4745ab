// @slow: a browser opens every page.
import { createClient } from 'messaging-service/client';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { gatewayList } from '../../shared/config/sms-gateways.ts';
import { linkFor } from '../../shared/domain/email/test-recipients/link.ts';
import { linkOf } from '../../shared/domain/email/tracking/links.ts';
import { useDatabase } from '../support/database/database.ts';
import {
  desk,
  faultsButContrast,
  newContrastFaults,
  openSite,
  phone,
  type Site,
  widthOnPhone,
} from './site.ts';

useDatabase();

const opsPassword = 'the-password-of-the-operator';

let site: Site;
beforeAll(async () => {
  site = await openSite({
    OPS_PASSWORD: opsPassword,
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
  });
}, 300_000);

/**
 * Returns the faults that keep a person from reading the page, in light, in dark or on a phone. Kinds of text whose
 * contrast is known are in `seen`.
 */
async function faultsOfPage(page: Page, seen: Set<string>): Promise<string[]> {
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = [...(await faultsButContrast(page)), ...(await newContrastFaults(page, seen))];
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await newContrastFaults(page, seen);
  const width = await widthOnPhone(page);
  return [...light, ...dark, ...(width === phone.width ? [] : [`is ${width} px wide on a phone`])];
}

test('every other page can be read by everybody, in light and dark, on a phone', async () => {
  const { url } = site;
  const { page, close } = await site.open('/docs/guides', {
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
  const seen = new Set<string>();
  const look = async (name: string) => {
    const found = await faultsOfPage(page, seen);
    if (found.length > 0) faults[name] = found;
  };
  for (const path of [...paths, ...recipients, '/ops', '/ops/gateways']) {
    await page.goto(url + path);
    await look(path);
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
  const { id } = await createClient({ baseUrl: site.url, apiKey: site.demo.apiKey }).post(
    '/v2/email/test-recipients',
    {
      body: { email: 'reader@example.com' },
    },
  );
  return id;
}

async function acceptedEmail(): Promise<string> {
  const { id } = await createClient({ baseUrl: site.url, apiKey: site.demo.apiKey }).post('/v2/email', {
    body: {
      sender: site.demo.sender,
      recipient: 'reader@example.com',
      subject: 'News',
      content: { text: 'News' },
      kind: 'marketing',
    },
  });
  return id;
}

// The reference has its own copy buttons, which its own test presses.
test('a guide’s code is copied by its button, with the mouse and by keyboard', async () => {
  const { page, close } = await site.open('/docs/guides/first-email', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const blocks = page.locator('.code:not(.picture)');
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
  for (const [place, press] of [
    [0, () => page.keyboard.press('Enter')],
    [1, () => page.mouse.down().then(() => page.mouse.up())],
  ] as const) {
    const block = blocks.nth(place);
    const button = block.getByRole('button', { name: 'Copy' });
    await button.hover();
    await button.focus();
    await press();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await clipboard()).toBe(await block.locator('code').evaluate((code) => code.textContent));
  }
  await close();
});
