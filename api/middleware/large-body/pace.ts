import { type ErrorCode, type Problem, problem } from '../../../shared/common/errors.ts';
import { semaphore } from '../../../shared/common/semaphore.ts';

/** How long a large body waits for each of its turns. */
const waitMs = 60_000;
/** Limits the bodies that are handled at a time: the result of each is held in memory. */
const handled = semaphore({ inAll: () => 32, permits: () => 4, waitMs });
/** One at a time is parsed, because a parsed body takes many times its size. */
const read = semaphore({ inAll: () => 1, permits: () => 1, waitMs });
/** Few are stored at a time: each holds a database connection until all of it is written. */
const stored = semaphore({ inAll: () => 4, permits: () => 1, waitMs });

type PacedWork = <T>(work: () => Promise<T>) => Promise<T>;
/** Steps that only a few large bodies take at a time, in turns by workspace; small bodies do not wait. */
export type Pace = { read: PacedWork; store: PacedWork };

export const unpaced: Pace = { read: (work) => work(), store: (work) => work() };

export function tooManyLarge(busyCode: ErrorCode): Problem {
  return problem(busyCode, {
    detail: 'Too many large requests are being processed. Send this request again later',
    retryAfterSeconds: 5,
  });
}

/** Handles a large body. While it waits for templates to be rendered, bodies without templates can go on. */
export function paced(
  owner: string,
  busyCode: ErrorCode,
  deal: (pace: Pace) => Promise<void>,
): Promise<void> {
  const refusal = () => tooManyLarge(busyCode);
  const pace: Pace = {
    read: (work) => read.run(owner, refusal, work),
    store: (work) => stored.run(owner, refusal, work),
  };
  return handled.run(owner, refusal, () => deal(pace));
}
