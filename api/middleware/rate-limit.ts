import type { Caller } from '../../shared/schemas/scopes.ts';

type Bucket = { tokens: number; filledAt: number };
type Allowance = { isAllowed: boolean; headers: Record<string, string>; retryAfterSeconds: number };

const burstSeconds = 2;
const mostBuckets = 10_000;

/**
 * A token bucket for each key of this process: `perSecond` go in, twice as many fit. 0 is no limit.
 * The headers follow draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateLimit(perSecond: number, milliseconds: () => number = () => performance.now()) {
  const burst = Math.max(1, Math.floor(perSecond * burstSeconds));
  const policy = `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`;
  const buckets = new Map<string, Bucket>();

  /** Counts one request against the key. */
  function take({ keyId }: Pick<Caller, 'keyId'>): Allowance {
    if (perSecond === 0) return { isAllowed: true, headers: {}, retryAfterSeconds: 0 };
    const time = milliseconds();
    const bucket = buckets.get(keyId) ?? { tokens: burst, filledAt: time };
    bucket.tokens = Math.min(burst, bucket.tokens + ((time - bucket.filledAt) / 1000) * perSecond);
    bucket.filledAt = time;
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    // The key that asked last goes to the end, so the first is the one that asked longest ago.
    buckets.delete(keyId);
    buckets.set(keyId, bucket);
    if (buckets.size > mostBuckets) buckets.delete(buckets.keys().next().value!);
    return {
      isAllowed,
      retryAfterSeconds: isAllowed ? 0 : (1 - bucket.tokens) / perSecond,
      headers: {
        RateLimit: `"default";r=${Math.floor(bucket.tokens)};t=${Math.ceil((burst - bucket.tokens) / perSecond)}`,
        'RateLimit-Policy': policy,
      },
    };
  }

  return { take };
}
