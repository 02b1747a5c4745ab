import { createRequire } from 'node:module';
import type { HtmlToTextOptions } from 'html-to-text';

const excerptLength = 2000;
// The excerpt needs no more of a page, so this bounds the time of parsing.
const maxHtmlLength = 64_000;

const options: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxInputLength: maxHtmlLength, maxChildNodes: 2000, maxDepth: 60 },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { ignoreHref: true } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
};

const require = createRequire(import.meta.url);
let fromHtml: ((html: string) => string) | undefined;

/** The library takes a while to load, and many processes never read HTML: the first page loads it. */
function loadFromHtml(): (html: string) => string {
  const { compile } = require('html-to-text') as typeof import('html-to-text');
  return compile(options);
}

/**
 * The library looks up elements by name in an object that inherits `constructor`. For this name it throws, or leaves
 * out the rest of the page. We replace the name by an unknown one, since all unknown names are the same to the
 * library.
 */
const inheritedName = /(<\/?)constructor(?=[\s/>])/gi;

function excerptOfHtml(html: string): string {
  fromHtml ??= loadFromHtml();
  return fromHtml(startOf(startOf(html).replace(inheritedName, '$1x-constructor')));
}

/** Cuts the page at `maxHtmlLength`, without half of a surrogate pair at the end. */
function startOf(html: string): string {
  return html.slice(0, maxHtmlLength).replace(html.length > maxHtmlLength ? /[\uD800-\uDBFF]$/ : '', '');
}

/** The first 2,000 characters of a message as plain text, from its text or else from its html. */
export function excerptOf(body: { html: string | null; text: string | null }): string | null {
  const text = body.text ?? (body.html === null ? null : excerptOfHtml(body.html));
  if (text === null) return null;
  const characters = text.length > 2 * excerptLength ? text.slice(0, 2 * excerptLength) : text;
  return characters.length <= excerptLength ? characters : [...characters].slice(0, excerptLength).join('');
}
