import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { config } from '../../shared/config/config.ts';
import { publicPath } from '../../shared/config/public-path.ts';
import type { Endpoint } from '../endpoint.ts';
import type { FailureLimit } from '../middleware/authenticate.ts';
import { confirmPages } from './confirm.ts';
import { docs } from './docs.ts';
import { gatewayDoors } from './gateways.ts';
import { health } from './health.ts';
import { inboundEmail } from './inbound.ts';
import { openImage } from './opens.ts';
import { escaped, page } from './page.ts';
import { problemPages } from './problems.ts';
import { sendProgram } from './reference.ts';
import { route } from './route.ts';
import { unsubscribePage } from './unsubscribe.ts';

/** Pages that people and machines reach without a key. */
export function publicPages(endpoints: readonly Endpoint[], failures: FailureLimit): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.use(health);
  if (config.INBOUND_TOKEN) router.use(inboundEmail(config.INBOUND_TOKEN, failures));
  router.use(gatewayDoors(failures));
  router.use(home);
  // Browsers ask for it of their own accord.
  router.get('/favicon.ico', (_request, response) => {
    response.sendFile(join(import.meta.dirname, 'assets/icon.svg'), { maxAge: '1d' });
  });
  router.use(withoutSlash);
  router.use(problemPages, confirmPages, unsubscribePage, openImage, docs(endpoints));
  router.get('/assets/scalar.js', sendProgram);
  router.use(
    '/assets',
    express.static(join(import.meta.dirname, 'assets'), { index: false, redirect: false, maxAge: '1h' }),
  );
  return router;
}

const pages = /^\/(?:docs|problems|openapi\.json)(?:\/[\w.-]+)*\/$/;

/** Redirects the address of a page with a trailing slash. */
function withoutSlash(request: Request, response: Response, next: NextFunction): void {
  if (!['GET', 'HEAD'].includes(request.method) || !pages.test(request.path)) return next();
  response.redirect(308, publicPath() + request.path.slice(0, -1));
}

const home = route('/', {
  get: (_request, response) => {
    response.type('html').send(homePage());
  },
});

const homePage = () =>
  page({
    title: 'Welcome',
    main: `<h1>${escaped(config.PRODUCT_NAME)}</h1>
<p>Sends email and SMS for a workspace, with signed webhooks and a feed of events.</p>
<ul>
<li><a href="/docs">API reference</a>: every operation, to read and to try</li>
<li><a href="/docs/guides">Guides</a>: from a first email to going live, and for those who run the platform or work on it</li>
<li><a href="/openapi.json">openapi.json</a>: the same for machines (OpenAPI 3.1)</li>
<li><a href="/problems">Problems</a>: what each refusal means and what to do about it</li>
</ul>`,
  });
