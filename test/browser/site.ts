import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Demo, makeDemo } from '../../scripts/setup/start/demo-workspace.ts';
import { startApi } from '../support/api/start-api.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startBrowser } from '../support/servers/browser.ts';
import { waitFor } from '../support/time/wait-for.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const desk = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

export type Site = Awaited<ReturnType<typeof openSite>>;
type WindowSettings = Parameters<Browser['newContext']>[0];

/** Starts a platform with a demo workspace, and a browser. Debian's package of the browser may have to be fetched. */
export async function openSite(settings: Parameters<typeof changeSettings>[0] = {}) {
  const browser = await startBrowser();
  const demo: Demo = await makeDemo();
  changeSettings({
    DEMO_API_KEY: demo.apiKey,
    SYSTEM_SENDER: 'Platform <hello@demo.example>',
    // A demo key is allowed only on a platform that no other machine can reach.
    BIND_ADDRESS: '127.0.0.1',
    ...settings,
  });
  const { url } = await startApi();

  /** Opens a new window. Closing it fails the test if a request went to another site, or if a script failed. */
  async function open(path: string, windowSettings: WindowSettings = {}) {
    const context: BrowserContext = await browser.newContext({ viewport: desk, ...windowSettings });
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
  return { browser, demo, url, open };
}

/** Returns the faults found by axe that keep a person from reading or using the page. */
export async function seriousFaults(page: Page, rules?: string[]): Promise<string[]> {
  await prepare(page);
  return violationsOf(page, 'document', rules && { runOnly: rules });
}

/** As `seriousFaults` does, but without the contrast of texts, which takes most of the time. */
export async function faultsButContrast(page: Page): Promise<string[]> {
  await prepare(page);
  return violationsOf(page, 'document', { rules: { 'color-contrast': { enabled: false } } });
}

/**
 * Returns the texts of the page with too little contrast, without those of a kind that is among `seen` already. Texts of
 * one kind have the same classes, colours, size and backgrounds, so one of them stands for all. The kinds of this page
 * are added to `seen`.
 */
export async function newContrastFaults(page: Page, seen: Set<string>): Promise<string[]> {
  await prepare(page);
  const kinds = await page.evaluate<string[]>(`(() => {
    const seen = new Set(${JSON.stringify([...seen])});
    const found = new Map();
    const behind = new Map();
    const backgroundsOf = (element) => {
      if (element === null) return '';
      if (!behind.has(element)) {
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
        const own = [backgroundColor, backgroundImage, opacity].join();
        const others = backgroundsOf(element.parentElement);
        behind.set(element, own === 'rgba(0, 0, 0, 0),none,1' ? others : own + '/' + others);
      }
      return behind.get(element);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [...document.querySelectorAll('input, select, textarea')];
    while (walker.nextNode())
      if (walker.currentNode.nodeValue.trim() !== '') texts.push(walker.currentNode.parentElement);
    for (const element of new Set(texts)) {
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const { color, fontSize, fontWeight } = getComputedStyle(element);
      const name = [element.localName, ...element.classList].join('.');
      const kind = [name, color, fontSize, fontWeight, backgroundsOf(element)].join(' ');
      if (!seen.has(kind) && !found.has(kind)) found.set(kind, element);
    }
    window.newTexts = [...found.values()];
    return [...found.keys()];
  })()`);
  for (const kind of kinds) seen.add(kind);
  return kinds.length > 0
    ? violationsOf(page, '{ include: window.newTexts }', { runOnly: ['color-contrast'] })
    : [];
}

async function prepare(page: Page): Promise<void> {
  // Playwright's waitForFunction asks again with eval, which the page's Content-Security-Policy refuses.
  await waitFor('nothing moves any more', () =>
    page.evaluate<boolean>('document.getAnimations().every(({ playState }) => playState !== "running")'),
  );
  // Without a value: Playwright would copy the whole of axe to here, which takes longer than all the checks.
  if (!(await page.evaluate<boolean>('window.axe !== undefined')))
    await page.evaluate(`(() => { ${axe} })()`);
}

/** `where` is a script that gives the part of the page that axe looks at. */
async function violationsOf(page: Page, where: string, settings: object = {}): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...settings };
  const { violations } = (await page.evaluate(`axe.run(${where}, ${JSON.stringify(options)})`)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ id, impact }) => ['serious', 'critical'].includes(impact) || id.startsWith('landmark'))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}

export async function widthOnPhone(page: Page): Promise<number> {
  await page.setViewportSize(phone);
  return page.evaluate<number>('document.documentElement.scrollWidth');
}
