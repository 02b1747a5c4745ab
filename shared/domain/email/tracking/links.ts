import { config } from '../../../config/config.ts';
import { makeToken, readToken } from './tokens.ts';

/** The purpose of a link in an email: the page to opt out at, or the image whose loads are counted. */
type LinkKind = 'unsubscribe' | 'open';
const paths = { unsubscribe: '/u', open: '/o' } as const;

export function linkOf(kind: LinkKind, emailId: string): string {
  return `${config.PUBLIC_URL}${paths[kind]}/${makeToken(purposeOf(kind), emailId)}`;
}

/** The email that a link's token was made for; null where it was not made here for this kind of link. */
export function readLink(kind: LinkKind, token: string): string | null {
  return readToken(purposeOf(kind), token);
}

/** Headers by which a mailbox provider offers one click (RFC 2369 §3.2, RFC 8058 §3.1). */
export function unsubscribeHeaders(emailId: string): Record<string, string> {
  return {
    'List-Unsubscribe': `<${linkOf('unsubscribe', emailId)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

/** Returns the html with the image whose loads are counted, at the end of the visible part. */
export function withOpenImage(html: string, emailId: string): string {
  const image = `<img src="${linkOf('open', emailId)}.gif" width="1" height="1" alt="" style="border:0;height:1px;width:1px">`;
  let end = html.length;
  // Do not search a lower-case copy: `İ` is longer in lower case, so positions in the copy would be wrong.
  for (const { index } of html.matchAll(/<\/body/gi)) end = index;
  return html.slice(0, end) + image + html.slice(end);
}

const purposeOf = (kind: LinkKind) => `email link ${kind}`;
