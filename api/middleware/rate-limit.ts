import { type Problem, problem } from '../../shared/common/errors.ts';
import { config } from '../../shared/config/config.ts';
import type { Limit } from '../../shared/coordination/rate-limits.ts';
import type { Caller } from '../../shared/schemas/scopes.ts';
import { type BucketResult, tokenBuckets } from './token-buckets.ts';

type Allowance = { refusal: Problem | null; headers: Record<string, string> };
type LimitedCaller = Pick<Caller, 'lineageId' | 'workspaceId'>;

const burstSeconds = 2;
const unlimited: Allowance = { refusal: null, headers: {} };

const policies = [
  {
    kind: 'key',
    name: 'default',
    idOf: ({ lineageId }: LimitedCaller) => lineageId,
    detail: (perSecond: number) =>
      `An API key, together with the keys from its rotations, may make at most ${perSecond} requests a second.`,
  },
  {
    kind: 'workspace',
    name: 'workspace',
    idOf: ({ workspaceId }: LimitedCaller) => workspaceId,
    detail: (perSecond: number) =>
      `All keys of a workspace together may make at most ${perSecond} requests a second.`,
  },
] as const;

/**
 * Limits the requests of callers, with one bucket for each workspace, and one for each key together with its rotations,
 * so that a rotation does not fill the bucket again. The headers follow draft-ietf-httpapi-ratelimit-headers-10.
 */
export function callerLimits(milliseconds?: () => number) {
  const { RATE_LIMIT_PER_SECOND: key, WORKSPACE_RATE_LIMIT_PER_SECOND: workspace } = config;
  const perSecond = { key, workspace };
  const inForce = policies.filter(({ kind }) => perSecond[kind] > 0);
  const limits = inForce.map(({ kind }) => limitOf(kind, perSecond[kind]));
  const buckets = tokenBuckets(limits, milliseconds);
  const policyHeader = inForce
    .map(({ name }, index) => {
      const { burst, perSecond } = limits[index]!;
      return `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`;
    })
    .join(', ');

  /** Counts one request of this caller. */
  function take(caller: LimitedCaller): Allowance | Promise<Allowance> {
    if (inForce.length === 0) return unlimited;
    const taken = buckets.take(inForce.map(({ idOf }) => idOf(caller)));
    return taken instanceof Promise ? taken.then(allowance) : allowance(taken);
  }

  /** Takes back the count of a request that passed. */
  function putBack(caller: LimitedCaller): void {
    buckets.putBack(inForce.map(({ idOf }) => idOf(caller)));
  }

  function allowance({ refusedBy, retryAfterSeconds, levels }: BucketResult): Allowance {
    const items = inForce.map(({ name }, index) => {
      const { burst, perSecond } = limits[index]!;
      const level = levels[index]!;
      return `"${name}";r=${Math.floor(level)};t=${Math.ceil((burst - level) / perSecond)}`;
    });
    const headers = { RateLimit: items.join(', '), 'RateLimit-Policy': policyHeader };
    if (!refusedBy) return { refusal: null, headers };
    const { detail } = inForce[limits.indexOf(refusedBy)]!;
    const refusal = problem('rate_limited', { retryAfterSeconds, detail: detail(refusedBy.perSecond) });
    return { refusal, headers };
  }

  return { take, putBack };
}

function limitOf(kind: Limit['kind'], perSecond: number): Limit {
  return { kind, perSecond, burst: Math.max(1, Math.floor(perSecond * burstSeconds)) };
}
