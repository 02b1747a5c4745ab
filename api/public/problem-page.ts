import type { NextFunction, Request, Response } from 'express';
import type { ProblemDocument } from '../../shared/schemas/problem.ts';
import { sendProblem, type WrittenProblem } from '../middleware/problems.ts';
import { escaped, page } from './page.ts';
import { asRecipientPage, recipientHeaders } from './recipient-page.ts';

const isForRecipients = /^\/(?:u|confirm|o)(?:\/|$)/;

/** For a reader who has followed a link, and knows nothing of Retry-After. */
const tryAgain = 'Nothing was changed. Please try again in a minute.';

/**
 * Answers errors of all addresses outside the API: with a page if the client asks for one, otherwise with a problem
 * document. Express recognizes an error handler by its four parameters.
 */
export function pageProblems(
  thrown: unknown,
  request: Request,
  response: Response,
  _next: NextFunction,
): void {
  if (!wantsPage(request)) return sendProblem(request, response, thrown);
  if (!isForRecipients.test(request.path)) return sendProblem(request, response, thrown, asPage);
  if (!response.headersSent) recipientHeaders(request, response);
  sendProblem(request, response, thrown, asRecipientPage);
}

/** Browsers name text/html; programs that take anything do not. */
function wantsPage({ path, headers }: Request): boolean {
  const isApi = path === '/v2' || path.startsWith('/v2/');
  return !isApi && /\btext\/html\b/i.test(headers.accept ?? '');
}

function asPage({ type, title, status, detail, requestId }: ProblemDocument): WrittenProblem {
  const body = page({
    title,
    main: `<p class="kicker">HTTP ${status}</p>
<h1>${escaped(title)}</h1>
<p>${escaped(status === 503 ? tryAgain : (detail ?? ''))}</p>
<p><a href="/problems/${escaped(type.slice(type.lastIndexOf('/') + 1))}">What this means</a></p>
<p>Request <code>${escaped(requestId)}</code></p>`,
  });
  return { type: 'text/html; charset=utf-8', body };
}
