import express, { type Express } from 'express';
import { config } from '../shared/config/config.ts';
import { inShareOf, transaction } from '../shared/db/client.ts';
import * as callers from '../shared/domain/api-keys/callers.ts';
import type { Endpoint } from './endpoint.ts';
import { failureLimit } from './middleware/authenticate.ts';
import { unknownPath } from './middleware/problems.ts';
import { requestForm } from './middleware/request-form.ts';
import { requestLog } from './middleware/request-log.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { type Doors, mount } from './mount.ts';
import { createOps } from './ops/index.ts';
import { publicPages } from './public/index.ts';
import { pageProblems } from './public/problem-page.ts';
import { shortLinks } from './public/short-links.ts';
import { endpoints as allEndpoints } from './routes/index.ts';

type AppParts = Partial<Omit<Doors, 'inShareOf'>> & { endpoints?: readonly Endpoint[] };

/** Creates the whole HTTP application, not yet listening. */
export function createApp({
  endpoints = allEndpoints,
  authenticate = callers.authenticate,
  transaction: inTransaction = transaction,
}: AppParts = {}): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('strict routing').enable('case sensitive routing');
  app.set('trust proxy', config.TRUST_PROXY);
  app.use(requestLog);
  app.use(requestForm);
  // Before all other routes, because a short domain serves nothing else.
  app.use(shortLinks());
  const failures = failureLimit();
  mount(app, endpoints, { authenticate, inShareOf, transaction: inTransaction, failures });
  app.use(securityHeaders);
  const ops = createOps();
  if (ops) app.use(ops);
  app.use(publicPages(endpoints, failures));
  app.use(unknownPath);
  app.use(pageProblems);
  return app;
}
