import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { isbot } from 'isbot';
import { problem } from '../../shared/common/errors.ts';
import { count } from '../../shared/common/metrics.ts';
import { config } from '../../shared/config/config.ts';
import * as links from '../../shared/domain/sms/short-links/short-links.ts';
import { guessLimit } from '../middleware/guess-limit.ts';
import { sendProblem } from '../middleware/problems.ts';
import { asRecipientPage, plainPage, recipientHeaders, sendRecipientPage } from './recipient-page.ts';
import { texts } from './recipient-texts.ts';

// The User-Agent of a browser is shorter; isbot matches it against a long expression.
const longestAgent = 1_000;

/**
 * Handles GET and HEAD of short links, on their path or their domain. A short domain serves nothing else, so that the
 * links in customers' texts share no origin with the rest.
 */
export function shortLinks(): RequestHandler {
  const misses = guessLimit({
    kind: 'link',
    what: 'open unknown links',
    perMinute: config.SHORT_LINK_MISSES_PER_MINUTE,
  });

  async function follow(request: Request, response: Response, token: string): Promise<void> {
    misses.refuseOneTooMany(request);
    const resolved = await links.resolve(token);
    if (resolved.kind === 'unknown') {
      visited('unknown');
      await misses.count(request);
      sendRecipientPage(request, response, 404, plainPage(texts.shortLink.unknown));
    } else if (resolved.kind === 'blocked') {
      visited('blocked');
      sendRecipientPage(request, response, 410, plainPage(texts.shortLink.blocked));
    } else {
      const visitor = visitorOf(request);
      if (visitor === 'click') links.countClick(resolved.link);
      visited(visitor);
      response.writeHead(302, {
        Location: resolved.location,
        'Cache-Control': 'no-store',
        'Content-Length': 0,
      });
      response.end();
    }
  }

  return (request: Request, response: Response, next: NextFunction) => {
    const token = tokenOf(request);
    if (token === null) return next();
    const { servedPath } = links.shortLinkPlace();
    // The log must not have the token: it opens a link that was sent to one phone.
    response.locals['loggedPath'] = `${servedPath}/…`;
    const refused = (thrown: unknown) => {
      visited('refused');
      sendProblem(request, response, thrown, asRecipientPage);
    };
    recipientHeaders(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refused(problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } }));
    follow(request, response, token).catch(refused);
  };
}

/** Returns the token, in any form; null if no short link is requested. */
function tokenOf(request: Request): string | null {
  const { host, servedPath, isOwnHost } = links.shortLinkPlace();
  const isThere = isOwnHost && request.host?.toLowerCase() === host;
  if (isOwnHost && !isThere) return null;
  const start = `${servedPath}/`;
  // Every request passes here, so the rest of the address is read only if it begins like a short link.
  if (request.url.startsWith(start)) return request.path.slice(start.length);
  return isThere ? '' : null;
}

const visited = (outcome: string) => count('short_link_visits', { outcome });

function visitorOf({ method, headers }: Request): 'click' | 'bot' | 'head' {
  if (method === 'HEAD') return 'head';
  return isbot(headers['user-agent']?.slice(0, longestAgent)) ? 'bot' : 'click';
}
