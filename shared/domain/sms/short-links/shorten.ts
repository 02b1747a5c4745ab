import { randomInt } from 'node:crypto';
import { shortLinkPlace } from './address.ts';
import { findUrls } from './find-urls.ts';

/** A URL of a text, and the token that stands for it there. */
export type ShortenedLink = { url: string; token: string };
type Shortened = { ok: true; text: string; links: ShortenedLink[] } | { ok: false; message: string };

export const mostLinks = 10;
const longestUrl = 2_048;
const tokenLength = 9;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

type ShortenOptions = {
  makeToken?: () => string;
  /** The caller refuses a longer text, so the URLs after this length may stay. */
  longest?: number;
};

/**
 * Puts a short link in place of each http(s) URL of the text, one for each URL however often it is there, or returns
 * why that cannot be done. Text that is no URL after all stays, and so do links that are short already.
 */
export function shorten(
  text: string,
  { makeToken = newToken, longest = Infinity }: ShortenOptions = {},
): Shortened {
  const tokens = new Map<string, string>();
  let short = '';
  let from = 0;
  for (const { url, start, end } of findUrls(text)) {
    // A text of a megabyte may have a hundred thousand URLs.
    if (short.length + start - from > longest) break;
    const target = targetOf(url);
    if (!target || isShort(target)) continue;
    if (!tokens.has(url) && tokens.size === mostLinks)
      return { ok: false, message: `has more than ${mostLinks} links to shorten` };
    if (target.username !== '' || target.password !== '')
      return { ok: false, message: 'has a link with a user name or password, which cannot be shortened' };
    if ([...url].length > longestUrl)
      return {
        ok: false,
        message: `has a link of more than ${longestUrl} characters, which cannot be shortened`,
      };
    const token = tokens.get(url) ?? makeToken();
    tokens.set(url, token);
    short += text.slice(from, start) + shortUrlOf(token);
    from = end;
  }
  const links = [...tokens].map(([url, token]) => ({ url, token }));
  return { ok: true, text: short + text.slice(from), links };
}

/** Returns the http(s) target of a URL, or null if it has none. */
export function targetOf(url: string): URL | null {
  const target = URL.parse(url);
  return target && /^https?:$/.test(target.protocol) && target.hostname !== '' ? target : null;
}

export function shortUrlOf(token: string): string {
  return `${shortLinkPlace().url}/${token}`;
}

function isShort({ host, pathname }: URL): boolean {
  const own = shortLinkPlace();
  return host === own.host && pathname.startsWith(`${own.path}/`);
}

/** Makes a token of about 54 random bits, so that nobody can guess one among millions. */
function newToken(): string {
  let token = '';
  while (token.length < tokenLength) token += alphabet[randomInt(alphabet.length)];
  return token;
}

const form = new RegExp(`^[0-9A-Za-z]{${tokenLength}}$`);
export const isToken = (text: string): boolean => form.test(text);
