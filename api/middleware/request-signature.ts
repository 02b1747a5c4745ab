import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../shared/schemas/scopes.ts';

/** What the headers alone can tell, before a body is read. */
export function requireSignature(_request: IncomingMessage, _caller: Caller): void {}

/** Whether the request is signed as its key demands (contract §3). */
export async function verifySignature(
  _request: IncomingMessage,
  _rawBody: Buffer,
  _caller: Caller,
): Promise<void> {}
