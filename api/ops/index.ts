import { type Express, type NextFunction, type Request, type Response, Router } from 'express';
import { problem } from '../../shared/common/errors.ts';
import { isSameSecret } from '../../shared/common/secrets.ts';
import { config } from '../../shared/config/config.ts';
import { publicPath } from '../../shared/config/public-path.ts';
import { guessLimit } from '../middleware/guess-limit.ts';
import { boardHeaders, securityHeaders } from '../middleware/security-headers.ts';
import { gatewaysPage } from './gateways.ts';

/** Returns the operator's pages, behind OPS_PASSWORD; null without a password, and then the pages do not exist. */
export function createOps(password: string | undefined = config.OPS_PASSWORD): Router | null {
  if (!password) return null;
  const ops = Router();
  ops.use('/ops', authenticateOperator(password), refuseForeignForms, withoutCache);
  // Loaded at the first request, together with the code that reads and writes the figures.
  ops.get('/ops', securityHeaders, async (request, response) => {
    const { homePage } = await import('./home.ts');
    await homePage(request, response);
  });
  ops.get('/ops/metrics', async (request, response) => {
    const { metricsPage } = await import('./metrics.ts');
    await metricsPage(request, response);
  });
  ops.get('/ops/gateways', securityHeaders, gatewaysPage);
  ops.use('/ops/queues', boardHeaders, boardAt('/ops/queues'));
  return ops;
}

/** Loads the board at the first request: most processes never show it. */
function boardAt(path: string) {
  let board: Promise<Express> | undefined;
  return async (request: Request, response: Response, next: NextFunction) => {
    board ??= import('./board.ts').then(({ createBoard }) => createBoard(publicPath() + path));
    (await board)(request, response, next);
  };
}

const user = 'operator';

/**
 * Checks the operator's password, which may be easy to guess. So an address past the limit of failed authentications is
 * refused without a check, even with the right password, until the time that the refusal names.
 */
function authenticateOperator(password: string) {
  // Counted apart from failed API keys: a client that sends bad keys must not shut the operator out.
  const guesses = guessLimit({
    kind: 'operator',
    what: 'send a wrong password',
    perMinute: config.AUTH_FAILURES_PER_MINUTE,
    countsSites: true,
  });
  return async (request: Request, _response: Response, next: NextFunction) => {
    const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (encoded) {
      guesses.refuseOneTooMany(request);
      if (isSameSecret(Buffer.from(encoded, 'base64').toString(), `${user}:${password}`)) return next();
      await guesses.count(request);
    }
    throw problem('unauthenticated', {
      detail: `Sign in as ${user} with OPS_PASSWORD`,
      headers: { 'WWW-Authenticate': 'Basic realm="operations", charset="UTF-8"' },
    });
  };
}

/** Refuses changes from another site's page, because a browser sends the password by itself. */
function refuseForeignForms(req: Request, _res: Response, next: NextFunction): void {
  const isSafe = req.method === 'GET' || req.method === 'HEAD';
  const site = req.headers['sec-fetch-site'];
  const origin = req.headers.origin;
  const isForeign =
    (site !== undefined && site !== 'same-origin' && site !== 'none') ||
    (origin !== undefined && origin.replace(/^https?:\/\//, '') !== req.headers.host);
  next(
    isForeign && !isSafe
      ? problem('forbidden', { detail: 'Requests from another site are not allowed' })
      : undefined,
  );
}

function withoutCache(_req: Request, res: Response, next: NextFunction): void {
  res.setHeader('Cache-Control', 'no-store');
  next();
}
