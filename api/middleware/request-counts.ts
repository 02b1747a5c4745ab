import { forgetAtEnd } from '../../shared/common/closing.ts';
import { count } from '../../shared/common/metrics.ts';

const classes = ['2xx', '3xx', '4xx', '5xx', 'gone'] as const;
type Keys = { requests: Record<string, string>; seconds: string };
/** The names of the counters of each operation, made once: every request counts. */
const known = new Map<string, Keys>();
forgetAtEnd(() => known.clear());

/** Counts a request that has ended, and its time. `status` is null if the client went away before its answer. */
export function countRequest(operation: string, status: number | null, ms: number): void {
  const { requests, seconds } = known.get(operation) ?? newKeys(operation);
  count(requests[status === null ? 'gone' : `${Math.floor(status / 100)}xx`]!);
  count(seconds, {}, Math.round(ms * 1000));
}

function newKeys(operation: string): Keys {
  const requests = Object.fromEntries(
    classes.map((status) => [status, `requests{operation="${operation}",status="${status}"}`]),
  );
  // Each counter exists as 0 from the first request on: otherwise an alert on an increase would miss the first failure.
  for (const key of Object.values(requests)) count(key, {}, 0);
  const keys = { requests, seconds: `request_seconds{operation="${operation}"}` };
  known.set(operation, keys);
  return keys;
}
