import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { logger } from '../../common/logger.ts';
import { isReachable, leaseTokens } from '../../coordination/rate-limits.ts';
import type { TextMessage } from './gateway.ts';
import { insertByRank, rankOf } from './lane-order.ts';

/** The rate limit of a gateway. */
type TurnTaker = {
  /**
   * Resolves to false, and takes nothing, when the turn would come too late. Texts of the most urgent lane get their turns
   * first.
   */
  take: (longestWaitMs: number, lane?: TextMessage['lane']) => Promise<boolean>;
};

type Turn = { rank: number; endsAt: number; resolve: (isGranted: boolean) => void };

const burstSeconds = 0.1;
/** The shortest time between two requests to Redis. A fast gateway gets several tokens with each request. */
const leastWaitMs = 10;
/** When Redis fails, a process uses its own share of the rate for this long, and then tries Redis again. */
const aloneMs = 1_000;

let sharers: ReadonlyMap<string, number> = new Map();

/** Sets how many processes use each gateway, as far as this is known. */
export function setSharers(counts: ReadonlyMap<string, number>): void {
  sharers = counts;
}

/** Returns at least 1, because this process is one of them. */
export const sharersOf = (name: string): number => Math.max(1, sharers.get(name) ?? 1);

/**
 * Limits a gateway to `perSecond` over all processes, and a tenth of this at once; the tokens lie in Redis. While
 * Redis is away or slow, each process takes its share of the rate, by the last known number of processes.
 */
export function sharedTokenBucket(name: string, perSecond: number | undefined): TurnTaker {
  if (perSecond === undefined) return { take: async () => true };
  const holder = randomUUID();
  const limit = { kind: 'gateway', perSecond, burst: Math.max(1, burstSeconds * perSecond) } as const;
  const share = tokenBucket(() => perSecond / sharersOf(name));
  const turns: Turn[] = [];
  /** Tokens that came when nobody waited any more. */
  let unused = 0;
  let aloneUntil = Number.NEGATIVE_INFINITY;
  let isServing = false;

  function take(longestWaitMs: number, lane?: TextMessage['lane']): Promise<boolean> {
    const rank = rankOf(lane);
    const before = turns.filter((turn) => turn.rank <= rank).length;
    if (before > (longestWaitMs / 1000) * perSecond! + limit.burst) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    insertByRank(turns, { rank, endsAt: performance.now() + longestWaitMs, resolve });
    if (!isServing) void serve();
    return promise;
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (turns.length > 0) {
      dropLate();
      if (turns.length === 0) break;
      const waitMs = await grant();
      dropLate();
      // Sleeps no longer than the shortest time left: the first waiter need not be the one with the least time.
      if (turns.length > 0) await sleep(Math.min(waitMs, ...turns.map(leftMs)));
    }
    isServing = false;
  }

  /** Lets as many go as there are tokens. Returns the milliseconds until the next token. */
  async function grant(): Promise<number> {
    if (performance.now() < aloneUntil || !isReachable()) return grantAlone();
    const asked = turns.length;
    const returned = unused;
    unused = 0;
    try {
      const ask = { limit, id: name, held: 0, returned, waiting: asked, want: 0 };
      const [answer] = await leaseTokens(holder, [ask]);
      const { granted, left } = answer!;
      const going = turns.splice(0, granted);
      unused = granted - going.length;
      for (const { resolve } of going) resolve(true);
      return Math.max(leastWaitMs, (1000 * (1 - left)) / perSecond!);
    } catch (error) {
      logger.warn(
        { err: error, gateway: name },
        'Redis does not answer; this process takes its share of the rate',
      );
      aloneUntil = performance.now() + aloneMs;
      return grantAlone();
    }
  }

  async function grantAlone(): Promise<number> {
    const first = turns[0]!;
    if (await share.take(leftMs(first)))
      // A more urgent text may have come before the first one meanwhile.
      turns.shift()!.resolve(true);
    else {
      turns.splice(turns.indexOf(first), 1);
      first.resolve(false);
    }
    return 0;
  }

  const leftMs = ({ endsAt }: Turn) => Math.max(0, endsAt - performance.now());

  function dropLate(): void {
    const time = performance.now();
    for (const turn of turns.filter(({ endsAt }) => endsAt <= time)) {
      turns.splice(turns.indexOf(turn), 1);
      turn.resolve(false);
    }
  }

  return { take };
}

/** Limits the rate of this process alone. */
function tokenBucket(perSecond: () => number): TurnTaker {
  let nextAt = 0;
  return {
    take: async (longestWaitMs) => {
      const time = performance.now();
      const at = Math.max(nextAt, time - 1000 * burstSeconds);
      if (at - time > longestWaitMs) return false;
      nextAt = at + 1000 / perSecond();
      if (at > time) await sleep(at - time);
      return true;
    },
  };
}
