import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { config } from '../../shared/config/config.ts';
import { withPublicPath } from '../public-links.ts';

/** The logo is part of the page, so that it is there with the first paint. */
const logo = readFileSync(join(import.meta.dirname, 'assets/icon.svg'), 'utf8')
  .trim()
  .replace('<svg ', '<svg class="logo" aria-hidden="true" ');

/** Text for a place between tags or inside a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

type HtmlPage = {
  title: string;
  /** HTML */
  main: string;
  /** HTML */
  head?: string;
  styles?: string;
  /** Whether the content brings its own `main` landmark, which a page has once. */
  hasOwnMain?: boolean;
};

/** The frame of every public page. In its content, addresses on this platform begin at the root. */
export function page({ title, main, head = '', styles = 'site.css', hasOwnMain = false }: HtmlPage): string {
  const frame = hasOwnMain ? 'div' : 'main';
  return withPublicPath(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · ${escaped(config.PRODUCT_NAME)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${styles}">
${head}</head>
<body>
<header><a class="home" href="/">${logo}${escaped(config.PRODUCT_NAME)}</a><nav><a href="/docs">API reference</a><a href="/docs/guides">Guides</a><a href="/problems">Problems</a></nav></header>
<${frame}>
${main}
</${frame}>
</body>
</html>
`);
}
