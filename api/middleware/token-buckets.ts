import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { batcher } from '../../shared/common/batcher.ts';
import { logger } from '../../shared/common/logger.ts';
import {
  type Ask,
  isReachable,
  type Limit,
  leaseSeconds,
  leaseTokens,
  type TokenGrant,
} from '../../shared/coordination/rate-limits.ts';

/** Whether a request passes, and how many tokens its buckets have left. */
export type BucketResult = { refusedBy: Limit | null; retryAfterSeconds: number; levels: number[] };

type Bucket = {
  limit: Limit;
  id: string;
  /** Leased tokens not yet spent, good until `heldUntil`; `leased` is how many there were when the lease was new. */
  held: number;
  heldUntil: number;
  leased: number;
  /** The part of `held` that Redis counts as leased by this process; further tokens were meant for waiting requests. */
  known: number;
  /** Unused tokens, which the next lease gives back. */
  returned: number;
  /** Requests since the last lease was asked for. */
  asked: number;
  /** Requests that wait for the next lease. */
  waiting: number;
  leasing: Promise<void> | null;
  /** The tokens that the last lease left in the shared bucket, and when. */
  left: number;
  leftAt: number;
  emptyUntil: number;
  /** Tokens of a local bucket, which only this process counts. It decides while Redis is away. */
  own: number;
  ownAt: number;
};

const mostBuckets = 10_000;
/** A lease asks for this many times the requests that came during the last lease. */
const growth = 4;
/** A lease of fewer tokens is used up before the next is fetched: another process may need the tokens now. */
const smallLease = 4;
const aloneMs = 1_000;
const leaseMs = leaseSeconds * 1000;
// Redis is not asked again about an empty bucket for at least this long, and at most for the length of a lease.
const shortestEmptyMs = 10;

/**
 * Counts requests against limits that all processes share. Usually this process has leased tokens already; a request
 * waits for Redis only if it is the first for a while, or if the limit is near. While Redis is away or hangs, this
 * process counts alone, and tries Redis again every second without letting a request wait.
 */
export function tokenBuckets(limits: readonly Limit[], milliseconds: () => number = () => performance.now()) {
  const holder = randomUUID();
  const bucketsOf = limits.map((limit) => {
    const memoMethod = (id: string) => newBucket(limit, id, milliseconds());
    return new LRUCache<string, Bucket>({ max: mostBuckets, memoMethod });
  });
  // All requests of one turn of the event loop share one call. No call waits for another: a Redis that hangs would
  // then delay a request twice.
  const askRedis = batcher<Ask, TokenGrant>({
    maxItems: 100,
    maxInFlight: Number.POSITIVE_INFINITY,
    gatherMs: 0,
    run: (asks) => leaseTokens(holder, asks),
  });
  let isTrusted = true;
  let triesAgainAt = 0;

  /** Takes one token for each of the ids, or none at all. The ids are in the order of the limits. */
  function take(ids: readonly string[]): BucketResult | Promise<BucketResult> {
    const buckets = bucketsOf.map((buckets, index) => buckets.memo(ids[index]!));
    for (const bucket of buckets) bucket.asked += 1;
    return takeNow(buckets) ?? waitAndTake(buckets);
  }

  /** Puts one token back for each of the ids, because it was not needed after all. */
  function putBack(ids: readonly string[]): void {
    const time = milliseconds();
    for (const [index, id] of ids.entries()) {
      const bucket = bucketsOf[index]!.memo(id);
      if (time < bucket.heldUntil) bucket.held += 1;
      else bucket.returned += 1;
      bucket.own = Math.min(bucket.limit.burst, bucket.own + 1);
    }
  }

  /** Takes the tokens without waiting for Redis; null if only Redis can decide. */
  function takeNow(buckets: Bucket[]): BucketResult | null {
    const time = milliseconds();
    const isAlone = !isTrusted || !isReachable();
    if (isAlone && time >= triesAgainAt && isReachable()) {
      triesAgainAt = time + aloneMs;
      void leaseAll(buckets);
    }
    for (const bucket of buckets) fillOwn(bucket, time);
    const inState = (state: BucketState) => buckets.filter((one) => stateOf(one, time, isAlone) === state);
    const secondsTo = (bucket: Bucket) => (1 - levelOf(bucket, time, isAlone)) / bucket.limit.perSecond;
    // The request has to wait for the slowest of the empty buckets.
    const [refusedBy] = inState('empty').toSorted((one, other) => secondsTo(other) - secondsTo(one));
    if (!refusedBy) {
      if (inState('unknown').length > 0) return null;
      for (const bucket of buckets) spend(bucket, time);
      if (!isAlone && buckets.some(isLow)) void leaseAll(buckets);
    }
    return {
      refusedBy: refusedBy?.limit ?? null,
      retryAfterSeconds: refusedBy ? secondsTo(refusedBy) : 0,
      levels: buckets.map((bucket) => levelOf(bucket, time, isAlone)),
    };
  }

  async function waitAndTake(buckets: Bucket[]): Promise<BucketResult> {
    for (const bucket of buckets) bucket.waiting += 1;
    try {
      for (;;) {
        await leaseAll(buckets);
        const taken = takeNow(buckets);
        if (taken) return taken;
      }
    } finally {
      for (const bucket of buckets) stopWaiting(bucket);
    }
  }

  async function leaseAll(buckets: Bucket[]): Promise<void> {
    await Promise.all(buckets.map(async (bucket) => (bucket.leasing ??= lease(bucket))));
  }

  async function lease(bucket: Bucket): Promise<void> {
    const askedAt = milliseconds();
    const ask = askFor(bucket, askedAt);
    try {
      accept(bucket, ask, await askRedis(ask), askedAt, milliseconds());
      if (!isTrusted) logger.info('requests are counted by all processes together again');
      isTrusted = true;
    } catch (error) {
      if (isTrusted) logger.warn({ err: error }, 'Redis does not answer; this process counts requests alone');
      isTrusted = false;
      triesAgainAt = milliseconds() + aloneMs;
    } finally {
      bucket.leasing = null;
    }
  }

  return { take, putBack };
}

function newBucket(limit: Limit, id: string, time: number): Bucket {
  const lease = { held: 0, heldUntil: 0, leased: 0, known: 0, returned: 0 };
  const asking = { asked: 0, waiting: 0, leasing: null };
  const shared = { left: limit.burst, leftAt: time, emptyUntil: 0 };
  return { limit, id, ...lease, ...asking, ...shared, own: limit.burst, ownAt: time };
}

function fillOwn(bucket: Bucket, time: number): void {
  const { perSecond, burst } = bucket.limit;
  bucket.own = Math.min(burst, bucket.own + ((time - bucket.ownAt) / 1000) * perSecond);
  bucket.ownAt = time;
}

/** `unknown`: only Redis can decide. */
type BucketState = 'ready' | 'empty' | 'unknown';

function stateOf(bucket: Bucket, time: number, isAlone: boolean): BucketState {
  if (bucket.held >= 1 && time < bucket.heldUntil) return 'ready';
  if (isAlone) return bucket.own >= 1 ? 'ready' : 'empty';
  return time < bucket.emptyUntil ? 'empty' : 'unknown';
}

/** Returns the level as far as this process knows it, without regard to what others have taken since the last lease. */
function levelOf(bucket: Bucket, time: number, isAlone: boolean): number {
  const { perSecond, burst } = bucket.limit;
  if (isAlone) return bucket.own;
  if (time < bucket.emptyUntil) return bucket.left;
  return Math.min(burst, bucket.held + bucket.left + ((time - bucket.leftAt) / 1000) * perSecond);
}

function spend(bucket: Bucket, time: number): void {
  if (bucket.held >= 1 && time < bucket.heldUntil) bucket.held -= 1;
  bucket.own = Math.max(0, bucket.own - 1);
}

function isLow({ leasing, leased, held }: Bucket): boolean {
  return !leasing && leased >= smallLease && held < leased / 2;
}

function giveBack(bucket: Bucket, tokens: number): void {
  bucket.held -= tokens;
  bucket.returned += tokens;
}

function stopWaiting(bucket: Bucket): void {
  bucket.waiting -= 1;
  if (bucket.waiting === 0 && bucket.held > bucket.known) giveBack(bucket, bucket.held - bucket.known);
}

function askFor(bucket: Bucket, time: number): Ask {
  if (time >= bucket.heldUntil) giveBack(bucket, bucket.held);
  const { limit, id, held, returned, asked, waiting } = bucket;
  bucket.asked = 0;
  bucket.returned = 0;
  const want = Math.max(0, growth * asked - held);
  return { limit, id, held, returned, waiting: Math.max(0, waiting - held), want };
}

function accept(
  bucket: Bucket,
  { held, waiting }: Ask,
  { granted, left }: TokenGrant,
  askedAt: number,
  time: number,
): void {
  bucket.held += granted;
  bucket.known = held + granted - Math.min(waiting, granted);
  bucket.leased = bucket.held;
  // Redis counts the lease from its answer, which was later, so this end is early enough.
  bucket.heldUntil = askedAt + leaseMs;
  bucket.left = left;
  bucket.leftAt = time;
  const isEmpty = bucket.held < 1 && left < 1;
  const untilNextMs = ((1 - left) / bucket.limit.perSecond) * 1000;
  bucket.emptyUntil = isEmpty ? time + Math.min(Math.max(untilNextMs, shortestEmptyMs), leaseMs) : 0;
}
