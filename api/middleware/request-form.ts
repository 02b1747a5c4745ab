import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem } from '../../shared/common/errors.ts';

/** Counts how often a header was sent. Node keeps only the first of some headers; another reader may keep another. */
export function headerCount(request: IncomingMessage, lowerCaseName: string): number {
  const { rawHeaders } = request;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) count += 1;
  }
  return count;
}

/**
 * Refuses what two readers of one request could take for different requests: a target with a host of its own, and
 * none or several Host headers (RFC 9112 §3.2).
 */
export function requestForm(
  request: IncomingMessage,
  _response: ServerResponse,
  next: (error?: unknown) => void,
): void {
  if (!request.url!.startsWith('/'))
    return next(
      problem('validation_failed', { detail: 'The request target must be a path that starts with /.' }),
    );
  const hosts = headerCount(request, 'host');
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor > 0))
    return next(problem('validation_failed', { detail: 'The request must have exactly one Host header.' }));
  next();
}
