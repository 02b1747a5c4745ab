import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { type Problem, problem } from '../../shared/common/errors.ts';
import { networkOf } from './authenticate.ts';
import { tokenBuckets } from './token-buckets.ts';

type GuessesLeft = { guesses: number; at: number };

const mostAddresses = 10_000;

/**
 * `kind` keeps the counts of each use apart; `what` names the counted guesses in the answer. With `countsSites`, a /48
 * of IPv6 also has a limit, that of ten /64s.
 */
type Guesses = { kind: string; what: string; perMinute: number; countsSites?: boolean };

const networksOfSite = 10;

/** Counts wrong guesses by the client's address, all web processes together, as failed authentications are. */
export function guessLimit({ kind, what, perMinute, countsSites = false }: Guesses) {
  const scopes = [
    { bits: 64, perMinute },
    ...(countsSites ? [{ bits: 48, perMinute: networksOfSite * perMinute } as const] : []),
  ] as const;
  const limits = scopes.map(({ perMinute }) => ({
    kind: 'address' as const,
    perSecond: perMinute / 60,
    burst: Math.max(1, Math.floor(perMinute)),
  }));
  const buckets = tokenBuckets(limits);
  // Counted in this process too, because a thousand guesses at once would all be checked before Redis has counted the
  // first.
  const leftOf = limits.map(() => new LRUCache<string, GuessesLeft>({ max: mostAddresses }));

  const networksOf = (request: Request) => scopes.map(({ bits }) => networkOf(request, bits));

  function left(network: string, index: number): GuessesLeft {
    const { perSecond, burst } = limits[index]!;
    const known = leftOf[index]!.get(network) ?? { guesses: burst, at: performance.now() };
    const time = performance.now();
    known.guesses = Math.min(burst, known.guesses + ((time - known.at) / 1000) * perSecond);
    known.at = time;
    return known;
  }

  /**
   * Refuses a client past the limit. Must run before the guess is checked: otherwise a client past the limit could
   * still find the right one.
   */
  function refuseOneTooMany(request: Request): void {
    if (perMinute === 0) return;
    for (const [index, network] of networksOf(request).entries()) {
      const { guesses } = left(network, index);
      if (guesses < 1) throw tooMany((1 - guesses) / limits[index]!.perSecond);
    }
  }

  /** Counts a wrong guess. */
  async function count(request: Request): Promise<void> {
    if (perMinute === 0) return;
    const networks = networksOf(request);
    const own = networks.map(left);
    for (const [index, one] of own.entries()) {
      one.guesses -= 1;
      leftOf[index]!.set(networks[index]!, one);
    }
    const { refusedBy, retryAfterSeconds } = await buckets.take(
      networks.map((network, index) => `${kind} ${index > 0 ? 'site ' : ''}${network}`),
    );
    if (!refusedBy) return;
    const full = own[limits.findIndex((limit) => limit === refusedBy)]!;
    full.guesses = Math.min(full.guesses, 1 - retryAfterSeconds * refusedBy.perSecond);
    throw tooMany(retryAfterSeconds);
  }

  function tooMany(retryAfterSeconds: number): Problem {
    const detail = `One IP address may ${what} at most ${perMinute} times a minute.`;
    return problem('rate_limited', { retryAfterSeconds, detail });
  }

  return { refuseOneTooMany, count };
}
