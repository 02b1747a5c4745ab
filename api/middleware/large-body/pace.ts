import { type ErrorCode, problem } from '../../../shared/common/errors.ts';
import { semaphore } from '../../../shared/common/semaphore.ts';

/** How long a large body waits for each of its turns. */
const waitMs = 60_000;
/** The result of a body is held in memory from then on. */
const handled = semaphore({ inAll: () => 32, permits: () => 4, waitMs });
/** A parsed body takes many times its size. */
const read = semaphore({ inAll: () => 1, permits: () => 1, waitMs });
/** Each holds a connection to the database for as long as it takes to write all of it. */
const stored = semaphore({ inAll: () => 4, permits: () => 1, waitMs });

type PacedWork = <T>(work: () => Promise<T>) => Promise<T>;
/** Steps that only a few large bodies take at a time, workspace after workspace, and small ones at once. */
export type Pace = { read: PacedWork; store: PacedWork };

export const unpaced: Pace = { read: (work) => work(), store: (work) => work() };

/** Deals with a large body. Waiting for templates to be rendered holds up nobody who has none. */
export function paced(
  owner: string,
  busyCode: ErrorCode,
  deal: (pace: Pace) => Promise<void>,
): Promise<void> {
  const refusal = () =>
    problem(busyCode, { detail: 'Too many large requests are in hand', retryAfterSeconds: 5 });
  const pace: Pace = {
    read: (work) => read.run(owner, refusal, work),
    store: (work) => stored.run(owner, refusal, work),
  };
  return handled.run(owner, refusal, () => deal(pace));
}
