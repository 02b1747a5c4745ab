import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { logger } from '../../shared/common/logger.ts';
import { type RequestCaller, runWithRequest } from '../../shared/common/request-context.ts';
import { countRequest } from './request-counts.ts';

const ownId = /^[A-Za-z0-9._-]{1,128}$/;
const longestPath = 200;
const linkToken = /^\/(u|o|l|confirm)\/.*/s;
/** Paths that programs request all the time: health checks, and tracking images of opened emails. */
const routine = /^\/(?:health\/|o\/)/;
/** An email address or a phone number in a path. */
const personalPart = /\/(?:[^/]*(?:@|%40)[^/]*|(?:\+|%2b)?[\d%.-]{6,}(?=\/|$))/gi;
// The log line has nothing to redact, and the search for it would take longer than the rest of the logging.
const log = logger.child({}, { redact: { paths: [] } });

/** Returns the path without personal data, and without the tokens at the end of links in emails and texts. */
export function loggedPath(url: string): string {
  const end = url.indexOf('?');
  // A query may hold what people searched for, so it stays out of the log.
  const path = url.slice(0, Math.min(end < 0 ? url.length : end, longestPath));
  return path.replace(linkToken, '/$1/…').replace(personalPart, '/…');
}

/** Returns the client's own id if it can be used as one, else a new id. */
export function requestIdOf(request?: IncomingMessage): string {
  const given = request?.headers['request-id'];
  return typeof given === 'string' && ownId.test(given) ? given : randomUUID();
}

function callerOf(response: Response): RequestCaller {
  return {
    hasGone: () => response.destroyed,
    onGone: (listener) => {
      response.once('close', listener);
      return () => response.off('close', listener);
    },
  };
}

/** Routine requests would fill the log, so only those of them that fail have a line of level info. */
const levelOf = (url: string, status: number) => (status < 400 && routine.test(url) ? 'debug' : 'info');

/** Gives the request its id, which is in every answer and on every line about it, logs its end and counts it. */
export function requestLog(request: Request, response: Response, next: NextFunction): void {
  const startedAt = performance.now();
  const requestId = requestIdOf(request);
  response.locals.requestId = requestId;
  response.setHeader('Request-Id', requestId);
  const { method, url } = request;
  response.once('close', () => {
    const ms = performance.now() - startedAt;
    const operation: string = response.locals.operation ?? (url.startsWith('/health/') ? 'health' : 'other');
    countRequest(operation, response.headersSent ? response.statusCode : null, ms);
    const line = {
      method,
      path: response.locals.loggedPath ?? loggedPath(url),
      status: response.statusCode,
      ms: Math.round(ms * 10) / 10,
      requestId,
      workspaceId: response.locals.caller?.workspaceId,
      keyId: response.locals.caller?.keyId,
    };
    if (response.headersSent) log[levelOf(url, response.statusCode)](line, 'request');
    else log.debug(line, 'the client went away before its answer');
  });
  runWithRequest({ requestId, caller: callerOf(response) }, next);
}
