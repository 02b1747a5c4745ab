import { createHash, timingSafeEqual } from 'node:crypto';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { config } from '../../shared/config.ts';
import { problem } from '../../shared/errors.ts';
import { createBoard } from './board.ts';
import { metricsPage } from './metrics.ts';

/** The operator's pages, behind OPS_PASSWORD; null without one: then they do not exist. */
export function createOps(password: string | undefined = config.OPS_PASSWORD): Router | null {
  if (!password) return null;
  const ops = Router();
  ops.use('/ops', authenticateOperator(password), refuseForeignForms, withPageHeaders);
  ops.get('/ops/metrics', metricsPage);
  ops.use('/ops/queues', createBoard('/ops/queues'));
  return ops;
}

const user = 'operator';

function authenticateOperator(password: string) {
  const expected = digest(`${user}:${password}`);
  return (req: Request, _res: Response, next: NextFunction) => {
    const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(req.headers.authorization ?? '') ?? [];
    if (encoded && timingSafeEqual(digest(Buffer.from(encoded, 'base64').toString()), expected))
      return next();
    next(
      problem('unauthenticated', {
        detail: `Sign in as ${user} with OPS_PASSWORD`,
        headers: { 'WWW-Authenticate': 'Basic realm="operations", charset="UTF-8"' },
      }),
    );
  };
}

/** A browser sends the password by itself, so another site's page must not be able to use it. */
function refuseForeignForms(req: Request, _res: Response, next: NextFunction): void {
  const isSafe = req.method === 'GET' || req.method === 'HEAD';
  const site = req.headers['sec-fetch-site'];
  const origin = req.headers.origin;
  const isForeign =
    (site !== undefined && site !== 'same-origin' && site !== 'none') ||
    (origin !== undefined && origin.replace(/^https?:\/\//, '') !== req.headers.host);
  next(isForeign && !isSafe ? problem('forbidden', { detail: 'Not from another site' }) : undefined);
}

/** Nothing is fetched from elsewhere, whatever a page asks for. */
function withPageHeaders(_req: Request, res: Response, next: NextFunction): void {
  res.setHeader(
    'Content-Security-Policy',
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
  );
  res.setHeader('Cache-Control', 'no-store');
  next();
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
