import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { config } from '../../shared/config/config.ts';
import type { ProblemDocument } from '../../shared/schemas/problem.ts';
import type { WrittenProblem } from '../middleware/problems.ts';
import { headersWith, policy } from '../middleware/security-headers.ts';
import { escaped } from './page.ts';
import { texts } from './recipient-texts.ts';

/**
 * The pages of recipients. They have no links to the API, because recipients do not know it. They load no other file,
 * because a short domain serves nothing but its links.
 */
type RecipientPage = {
  title: string;
  /** HTML, which follows the title. */
  main: string;
  /** Name of the workspace that the message came from, where that is known. */
  workspace?: string;
};

const styles = `:root{color-scheme:light dark;--paper:light-dark(#fff,#14171c);--line:light-dark(#e2e5ea,#2d333d);--ink:light-dark(#1b1f26,#e4e7ec);--faint:light-dark(#5d6675,#9aa4b3);--accent:light-dark(#2f5bd8,#8fabff)}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 system-ui,sans-serif}
header,main,footer{width:100%;max-width:36rem;margin:0 auto;padding:1rem 1.25rem;overflow-wrap:anywhere}
header{padding-top:2rem;color:var(--faint);font-weight:600}
main{flex:1}
h1{margin:0 0 .8rem;font-size:1.7rem;line-height:1.25}
button{min-height:2.75rem;padding:.6rem 1.2rem;border:0;border-radius:.5rem;background:var(--accent);color:var(--paper);font:inherit;font-weight:600;cursor:pointer}
button:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
footer{border-top:1px solid var(--line);color:var(--faint);font-size:.9rem}
footer strong{font-weight:inherit}`;

const styleHash = createHash('sha256').update(styles).digest('base64');

const securityHeaders = headersWith({
  ...policy,
  scriptSrc: ["'none'"],
  styleSrc: [`'sha256-${styleHash}'`],
  connectSrc: ["'none'"],
});

export function recipientPage({ title, main, workspace }: RecipientPage): string {
  const from = workspace ?? config.PRODUCT_NAME;
  return `<!doctype html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(title)} · ${escaped(from)}</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
<header>${escaped(from)}</header>
<main>
<h1>${escaped(title)}</h1>
${main}
</main>
${workspace === undefined ? '' : `<footer>${texts.servedBy(config.PRODUCT_NAME)}</footer>\n`}</body>
</html>
`;
}

/** A title and one sentence. */
export function plainPage({ title, text }: { title: string; text: string }): string {
  return recipientPage({ title, main: `<p>${escaped(text)}</p>` });
}

/** Sets the headers of every answer to a recipient. The address of the page is a secret of the person who has it. */
export function recipientHeaders(request: Request, response: Response): void {
  securityHeaders(request, response, () => undefined);
  response.set({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
  });
}

export function sendRecipientPage(request: Request, response: Response, status: number, html: string): void {
  recipientHeaders(request, response);
  response.status(status).type('html').send(html);
}

/** Writes a refusal in words for somebody who has followed a link. */
export function asRecipientPage({ status, requestId }: ProblemDocument): WrittenProblem {
  const { title, reference, ...of } = texts.fault;
  const text = status >= 500 ? of.unavailable : status === 429 ? of.tooMany : of.refused;
  const main = `<p>${escaped(text)}</p>\n<p>${escaped(reference)} <code>${escaped(requestId)}</code></p>`;
  return { type: 'text/html; charset=utf-8', body: recipientPage({ title, main }) };
}
