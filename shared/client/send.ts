import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './refusal.ts';

export type Patience = {
  /** How often a request is sent at most. */
  tries: number;
  /** How long one try may take. */
  timeoutSeconds: number;
  /** The longest wait between two tries; where the service asks for a longer one, its refusal is thrown. */
  longestWaitSeconds: number;
};

export type Request = {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | ArrayBuffer;
  signal?: AbortSignal | undefined;
};
/** The answer that a try before this refusal had, and that was lost; undefined where the refusal shows none. */
type LostAnswer = (refusal: Refusal) => Promise<string | undefined>;

const firstWaitSeconds = 0.5;

/**
 * The answer to a request, which is sent again where the connection breaks, or the service is busy or away. Sending it twice
 * takes effect once: by its method, or by its Idempotency-Key.
 * @throws {Refusal} what the service has against it
 */
export async function send(request: Request, patience: Patience, lostAnswer?: LostAnswer): Promise<string> {
  let mayBeDone = false;
  for (let tried = 1; ; tried += 1) {
    const outcome = await tryOnce(request, patience);
    if (typeof outcome === 'string') return outcome;
    const { fault, mayTryAgain, atLeastSeconds } = outcome;
    if (fault instanceof Refusal && mayBeDone) {
      const lost = await lostAnswer?.(fault);
      if (lost !== undefined) return lost;
    }
    // A proxy answers with 5xx in the place of an answer that it has not got.
    mayBeDone ||= !(fault instanceof Refusal) || fault.status >= 500;
    if (!mayTryAgain || tried >= patience.tries || atLeastSeconds > patience.longestWaitSeconds) throw fault;
    // Not all clients at the same moment, and no sooner than the service asks for.
    const usual = firstWaitSeconds * 2 ** (tried - 1) * (0.5 + Math.random() / 2);
    const seconds = Math.min(Math.max(usual, atLeastSeconds), patience.longestWaitSeconds);
    await sleep(seconds * 1000, undefined, request.signal ? { signal: request.signal } : {});
  }
}

type Failure = { fault: Error; mayTryAgain: boolean; atLeastSeconds: number };

async function tryOnce({ url, signal, ...request }: Request, patience: Patience): Promise<string | Failure> {
  const limit = AbortSignal.timeout(patience.timeoutSeconds * 1000);
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const text = await response.text();
    if (response.ok) return text;
    const fault = new Refusal(response, text);
    return { fault, mayTryAgain: isPassing(fault), atLeastSeconds: fault.retryAfterSeconds ?? 0 };
  } catch (error) {
    signal?.throwIfAborted();
    const { cause, message } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    const fault = new Error(`${request.method} ${url.href} got no answer: ${why}`, { cause: error });
    return { fault, mayTryAgain: true, atLeastSeconds: 0 };
  }
}

function isPassing({ status, code }: Refusal): boolean {
  return status === 408 || status === 429 || status >= 500 || code === 'idempotency_in_progress';
}
