import { type Fault, faults as faultsOfStorm } from './faults.ts';
import { between, shuffled } from './random.ts';
import type { Random } from './types.ts';

export type Planned = {
  kind: string;
  /** The name of a slot or of a server. */
  target: string;
  /** Milliseconds from the start of the storm. */
  atMs: number;
  lastMs: number;
  /** The strength of the fault, from 0 to below 1, for faults that have one. */
  amount: number;
};

type Options = {
  random: Random;
  durationMs: number;
  /** Names of the processes. */
  slots: readonly string[];
  faults?: Record<string, Pick<Fault<never>, 'to' | 'lasts'>>;
  /** Only these kinds; all by default. */
  kinds?: readonly string[];
  /** Time from the begin of one fault to the begin of the next. */
  gapMs: readonly [least: number, most: number];
};

/** Recovery time after a fault, before the next one at the same target. */
const restMs = 2_000;

/**
 * Plans the whole storm before it begins; the seed alone decides it. Each kind of fault comes once at each target
 * before any comes twice. Faults of different targets may overlap, faults of one target do not.
 */
export function planStorm({
  random,
  durationMs,
  slots,
  faults = faultsOfStorm,
  kinds,
  gapMs,
}: Options): Planned[] {
  const all = Object.entries(faults)
    .filter(([kind]) => kinds?.includes(kind) ?? true)
    .flatMap(([kind, { to }]) => (to === 'processes' ? slots : to).map((target) => ({ kind, target })));
  const plan: Planned[] = [];
  const busyUntil = new Map<string, number>();
  let bag: typeof all = [];
  for (let atMs = between(random, ...gapMs); ; atMs += between(random, ...gapMs)) {
    if (bag.length === 0) bag = shuffled(random, all);
    const free = bag.findIndex(({ target }) => (busyUntil.get(target) ?? 0) <= atMs);
    const next = bag.splice(Math.max(0, free), 1)[0];
    const fault = next && faults[next.kind];
    if (!fault) return plan;
    const lastMs = between(random, ...fault.lasts);
    const amount = random();
    // If all targets are busy, the fault waits for its target.
    const begin = Math.max(atMs, busyUntil.get(next.target) ?? 0);
    if (begin + lastMs > durationMs) return plan;
    plan.push({ ...next, atMs: begin, lastMs, amount });
    busyUntil.set(next.target, begin + lastMs + restMs);
    atMs = begin;
  }
}
