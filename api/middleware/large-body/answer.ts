import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Problem, problem } from '../../../shared/common/errors.ts';
import { answerBudget } from './budget.ts';

const largeBytes = 256 * 1024;
/** Units of a text. */
const pieceLength = 64 * 1024;

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
  const bytes = Buffer.byteLength(text);
  if (bytes <= largeBytes || response.closed || response.req.method === 'HEAD') {
    response.writeHead(status, { ...headers, 'Content-Length': bytes }).end(text);
    return;
  }
  const isAscii = bytes === text.length;
  // V8 keeps a text in one byte for each unit if it can, and in two otherwise.
  const heldBytes = isAscii ? bytes : text.length * 2;
  const reservation = answerBudget.reserve(owner)!;
  response.once('close', reservation.release);
  if (!reservation.grow(heldBytes)) {
    if (mayRefuse) {
      reservation.release();
      throw full();
    }
    reservation.hold(heldBytes);
  }
  large.add(response);
  response.writeHead(status, { ...headers, 'Content-Length': bytes });
  writeInPieces(response, text, isAscii ? 'latin1' : 'utf8');
}

/**
 * Writes the text, each piece after the system has taken the one before. A text and not its bytes: Node writes a text
 * from memory that it frees at once, whereas a Buffer stays until a garbage collection.
 */
function writeInPieces(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): void {
  let start = 0;
  const writeMore = () => {
    let goesOn = true;
    while (goesOn && start < text.length) {
      const piece = text.slice(start, endOfPiece(text, start));
      start += piece.length;
      goesOn = response.write(piece, encoding);
    }
    if (start < text.length) response.once('drain', writeMore);
    else response.end();
  };
  writeMore();
}

/** The end of the piece that starts there; it parts no pair of surrogates. */
function endOfPiece(text: string, start: number): number {
  const end = start + pieceLength;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
}

const isHighSurrogate = (unit: number) => unit >= 0xd8_00 && unit <= 0xdb_ff;

function full(): Problem {
  return problem('service_unavailable', {
    detail:
      'Too many large answers to this workspace are still being sent. Receive them to their end, then send this request again',
    retryAfterSeconds: 5,
  });
}
