import { type ErrorCode, problem } from '../../../shared/common/errors.ts';
import { openTurns } from './turn.ts';

/** How long a large body waits for each of its turns. */
const limitMs = 60_000;
/** The result of a body is held in memory from then on. */
const handled = openTurns({ atOnce: 32, perOwner: 4 });
/** A parsed body takes many times its size. */
const read = openTurns({ atOnce: 1, perOwner: 1 });
/** Each holds a connection to the database for as long as it takes to write all of it. */
const stored = openTurns({ atOnce: 4, perOwner: 1 });

type Work = <T>(work: () => Promise<T>) => Promise<T>;
/** Steps that only a few large bodies take at a time, workspace after workspace, and small ones at once. */
export type Pace = { read: Work; store: Work };

export const unpaced: Pace = { read: (work) => work(), store: (work) => work() };

/** Deals with a large body. Waiting for templates to be rendered holds up nobody who has none. */
export function paced(
  owner: string,
  busyCode: ErrorCode,
  deal: (pace: Pace) => Promise<void>,
): Promise<void> {
  const refusal = () =>
    problem(busyCode, { detail: 'Too many large requests are in hand', retryAfterSeconds: 5 });
  const turn = { owner, limitMs, refusal };
  const pace: Pace = { read: (work) => read(turn, work), store: (work) => stored(turn, work) };
  return handled(turn, () => deal(pace));
}
