import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { logger } from '../../shared/logger.ts';
import { runWithRequest } from '../../shared/request-context.ts';

const ownId = /^[A-Za-z0-9._-]{1,128}$/;
const longestPath = 200;
// The line holds nothing to redact, and looking for it takes longer than all the rest of the log.
const log = logger.child({}, { redact: { paths: [] } });

/** The client's own id when it can be used as one, else a new one. */
export function requestIdOf(request?: IncomingMessage): string {
  const given = request?.headers['request-id'];
  return typeof given === 'string' && ownId.test(given) ? given : randomUUID();
}

/** Gives the request its id, which is in every answer and on every line about it, and logs its end. */
export function requestLog(request: Request, response: Response, next: NextFunction): void {
  const startedAt = performance.now();
  const requestId = requestIdOf(request);
  response.locals.requestId = requestId;
  response.setHeader('Request-Id', requestId);
  const { method, url } = request;
  response.once('close', () => {
    const end = url.indexOf('?');
    const line = {
      method,
      // A query may hold what people searched for, so it stays out of the log.
      path: url.slice(0, Math.min(end < 0 ? url.length : end, longestPath)),
      status: response.statusCode,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      requestId,
      workspaceId: response.locals.caller?.workspaceId,
      keyId: response.locals.caller?.keyId,
    };
    if (response.headersSent) log.info(line, 'request');
    else log.debug(line, 'the client went away before its answer');
  });
  runWithRequest({ requestId }, next);
}
