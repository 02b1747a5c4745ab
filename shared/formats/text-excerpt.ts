import { createRequire } from 'node:module';
import type { FormatCallback, HtmlToTextOptions } from 'html-to-text';

const excerptLength = 2000;
// The excerpt needs no more of a page, so this bounds the time of parsing. Most of this time goes to the elements.
const maxHtmlLength = 64_000;
const firstTags = /^[^<]*(?:<[^<]*){0,2000}/;

/**
 * Numbers a list in decimals, as the library does by default. The library's Roman numbers end below 10,000 with an
 * error, and a start that is no number gives control characters.
 */
const decimalList: FormatCallback = (list, walk, builder, listOptions) => {
  const start = Number.parseInt(list.attribs.start, 10);
  list.attribs = { start: Math.abs(start) < 1e9 ? `${start}` : '1' };
  const { options } = builder as unknown as { options: { formatters: Record<string, FormatCallback> } };
  options.formatters.orderedList!(list, walk, builder, listOptions);
};

const options: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxInputLength: maxHtmlLength, maxChildNodes: 2000, maxDepth: 60 },
  formatters: { decimalList },
  selectors: [
    { selector: 'ol', format: 'decimalList' },
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

const controlCharacters = /[^\P{Cc}\t\n\r]/gu;

/** An excerpt only helps a reader, so an email whose page the library cannot read is sent without an excerpt. */
function excerptOfHtml(html: string): string | null {
  fromHtml ??= loadFromHtml();
  try {
    const page = startOf(startOf(html).replace(inheritedName, '$1x-constructor'));
    return fromHtml(page).replace(controlCharacters, '');
  } catch {
    return null;
  }
}

/** Cuts the page at `maxHtmlLength` or after `firstTags`, without half of a surrogate pair at the end. */
function startOf(html: string): string {
  const [start] = firstTags.exec(html.slice(0, maxHtmlLength))!;
  return start.replace(html.length > maxHtmlLength ? /[\uD800-\uDBFF]$/ : '', '');
}

/** The first 2,000 characters of a message as plain text, from its text or else from its html. */
export function excerptOf(body: { html: string | null; text: string | null }): string | null {
  const text = body.text ?? (body.html === null ? null : excerptOfHtml(body.html));
  if (text === null) return null;
  const characters = text.length > 2 * excerptLength ? text.slice(0, 2 * excerptLength) : text;
  return characters.length <= excerptLength ? characters : [...characters].slice(0, excerptLength).join('');
}
