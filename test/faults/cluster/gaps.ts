import type { InjectedFault, Ledger } from '../storm/types.ts';

/** A fault, and the longest time without an accepted request during it; null: other faults account for all of it. */
export type Gap = { fault: InjectedFault; gapMs: number | null; limitMs: number | undefined };

type Known = Pick<Ledger, 'requests' | 'stalls'>;
type Span = { fromMs: number; toMs: number };

const spanOf = ({ atMs, lastedMs }: InjectedFault): Span => ({ fromMs: atMs, toMs: atMs + lastedMs });
const meet = (one: Span, other: Span): boolean => one.fromMs < other.toMs && other.fromMs < one.toMs;

/** Returns the part of a pause between the fault before this one and the fault after it. */
const clip = (pause: Span, own: Span, others: Span[]): Span => ({
  fromMs: Math.max(
    pause.fromMs,
    ...others.filter((other) => other.fromMs < own.fromMs).map(({ toMs }) => toMs),
  ),
  toMs: Math.min(
    pause.toMs,
    ...others.filter((other) => other.fromMs >= own.fromMs).map(({ fromMs }) => fromMs),
  ),
});

/**
 * Returns for each fault the longest pause without a 2xx that overlaps it. Where the kind of fault has a limit, a pause
 * does not count if it overlaps a fault of a web process or a stall of the whole machine. The part of a pause that
 * belongs to the fault of the same engine before or after is cut off, because it counts there.
 */
export function gapsOf(
  { requests, stalls }: Known,
  faults: readonly InjectedFault[],
  limitsMs: Readonly<Record<string, number>>,
): Gap[] {
  const accepted = [...requests.values()]
    .flatMap(({ status, answeredMs }) => (status !== null && status < 300 && answeredMs ? [answeredMs] : []))
    .toSorted((one, other) => one - other);
  const pauses = accepted.slice(1).map((toMs, index) => ({ fromMs: accepted[index]!, toMs }));
  const others = [...faults.filter(({ target }) => target.startsWith('web')), ...stalls].map(spanOf);
  return faults.map((fault) => {
    const limitMs = limitsMs[fault.kind];
    const span = spanOf(fault);
    const hit = pauses.filter((pause) => meet(pause, span));
    const beside = faults.filter((other) => other !== fault && other.target === fault.target).map(spanOf);
    const own =
      limitMs === undefined
        ? hit
        : hit
            .filter((pause) => !others.some((other) => meet(pause, other)))
            .map((pause) => clip(pause, span, beside))
            .filter((pause) => meet(pause, span));
    const gapMs = own.length === 0 ? null : Math.max(...own.map(({ fromMs, toMs }) => toMs - fromMs));
    return { fault, gapMs, limitMs };
  });
}

export const isTooLong = ({ gapMs, limitMs }: Gap): boolean =>
  gapMs !== null && limitMs !== undefined && gapMs > limitMs;
