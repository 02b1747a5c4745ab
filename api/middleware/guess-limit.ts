import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { type Problem, problem } from '../../shared/common/errors.ts';
import { networkOf } from './authenticate.ts';
import { tokenBuckets } from './token-buckets.ts';

type GuessesLeft = { guesses: number; at: number };

const mostAddresses = 10_000;

/** `kind` keeps the counts of each use apart; `what` names the counted guesses in the answer. */
type Guesses = { kind: string; what: string; perMinute: number };

/** Counts wrong guesses by the client's address, all web processes together, as failed authentications are. */
export function guessLimit({ kind, what, perMinute }: Guesses) {
  const perSecond = perMinute / 60;
  const burst = Math.max(1, Math.floor(perMinute));
  const buckets = tokenBuckets([{ kind: 'address', perSecond, burst }]);
  // Counted in this process too, because a thousand guesses at once would all be checked before Redis has counted the
  // first.
  const leftOf = new LRUCache<string, GuessesLeft>({ max: mostAddresses });

  function left(network: string): GuessesLeft {
    const known = leftOf.get(network) ?? { guesses: burst, at: performance.now() };
    const time = performance.now();
    known.guesses = Math.min(burst, known.guesses + ((time - known.at) / 1000) * perSecond);
    known.at = time;
    return known;
  }

  /**
   * Refuses a client past the limit. Must run before the guess is checked: otherwise the right one would still be
   * found.
   */
  function refuseOneTooMany(request: Request): void {
    if (perMinute === 0) return;
    const { guesses } = left(networkOf(request));
    if (guesses < 1) throw tooMany((1 - guesses) / perSecond);
  }

  /** Counts a wrong guess. */
  async function count(request: Request): Promise<void> {
    if (perMinute === 0) return;
    const network = networkOf(request);
    const own = left(network);
    own.guesses -= 1;
    leftOf.set(network, own);
    const { refusedBy, retryAfterSeconds } = await buckets.take([`${kind} ${network}`]);
    if (!refusedBy) return;
    own.guesses = Math.min(own.guesses, 1 - retryAfterSeconds * perSecond);
    throw tooMany(retryAfterSeconds);
  }

  function tooMany(retryAfterSeconds: number): Problem {
    const detail = `There may be ${perMinute} ${what} a minute from one address.`;
    return problem('rate_limited', { retryAfterSeconds, detail });
  }

  return { refuseOneTooMany, count };
}
