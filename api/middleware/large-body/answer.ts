import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type Problem, problem } from '../../../shared/common/errors.ts';
import { answerBudget } from './budget.ts';

const largeBytes = 256 * 1024;
const pieceBytes = 64 * 1024;

type LargeAnswer = {
  status: number;
  headers: OutgoingHttpHeaders;
  owner: string;
  /** Whether the answer may be replaced by a refusal, because the request has changed nothing. */
  mayRefuse: boolean;
};

const large = new WeakSet<ServerResponse>();

/** Whether a large answer is on its way, which takes memory until its client has taken it. */
export function isLargeOnItsWay(response: ServerResponse): boolean {
  return large.has(response);
}

/**
 * Refuses a request that may change something while its owner has too many large answers on their way. The changes that
 * are under way by then are still answered: the budget may be passed by one answer for each of their connections.
 */
export function refuseWhileFull(owner: string): void {
  if (!answerBudget.hasFree(owner, largeBytes)) throw full();
}

/**
 * Sends a body. A large body counts against the budget of its owner until the client has taken it or is gone. It goes
 * out in pieces, so that we see whether the client takes anything.
 */
export function sendBody(
  response: ServerResponse,
  text: string,
  { status, headers, owner, mayRefuse }: LargeAnswer,
): void {
  // A text has at most three bytes for each unit of its length.
  const isSmall = text.length * 3 <= largeBytes || Buffer.byteLength(text) <= largeBytes;
  if (isSmall || response.closed || response.req.method === 'HEAD') {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) }).end(text);
    return;
  }
  // Keeps the bytes and not the text, which may take twice the memory.
  const bytes = Buffer.from(text);
  const reservation = answerBudget.reserve(owner)!;
  response.once('close', reservation.release);
  if (!reservation.grow(bytes.length)) {
    if (mayRefuse) {
      reservation.release();
      throw full();
    }
    reservation.hold(bytes.length);
  }
  large.add(response);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  Readable.from(piecesOf(bytes)).pipe(response);
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield bytes.subarray(start, start + pieceBytes);
}

function full(): Problem {
  return problem('service_unavailable', {
    detail:
      'Too many large answers to this workspace are still being sent. Receive them to their end, then send this request again',
    retryAfterSeconds: 5,
  });
}
